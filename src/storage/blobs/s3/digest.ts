import { createHash, hash, webcrypto } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { Transform, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createFileStream } from '../../../lib/private-files.ts'

/** Hashing less than this takes less time than handing it to another thread. */
const SYNC_BYTES = 64 * 1024

/** SHA-256 in hexadecimal, without holding the event loop. */
export async function digestBytes(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  if (bytes.byteLength <= SYNC_BYTES) return hash('sha256', bytes)
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes)).toString('hex')
}

/** SHA-256 of a file in hexadecimal, read chunk by chunk. */
export async function digestFile(path: string): Promise<string> {
  const digest = createHash('sha256')
  await pipeline(createReadStream(path), digest)
  return digest.digest('hex')
}

/** Writes a stream into a new file. Returns the SHA-256 of what went in, in hexadecimal. */
export async function saveTo(path: string, body: Readable, signal: AbortSignal): Promise<string> {
  const digest = createHash('sha256')
  const tap = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      digest.update(chunk)
      done(null, chunk)
    },
  })
  await pipeline(body, tap, createFileStream(path), { signal })
  return digest.digest('hex')
}
