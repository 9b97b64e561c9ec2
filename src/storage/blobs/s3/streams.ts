import { createHash, hash, webcrypto } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { PassThrough, pipeline, Readable } from 'node:stream'
import { pipeline as finished } from 'node:stream/promises'
import { createFileStream } from '../../../lib/private-files.ts'
import type { BlobStore } from '../blob-store.ts'
import { isTransient, StoreTimeout } from './errors.ts'

/** Hashing less than this takes less time than handing it to another thread. */
const SYNC_HASH_BYTES = 64 * 1024
/** How many breaks of one stream are repaired. */
const MAX_RESUMES = 8

/**
 * Passes a body on, and destroys it when the store sends nothing for `silenceMs` or the reader takes nothing for `stallMs`.
 * A socket timeout cannot tell these two apart, and every open body holds a connection.
 */
export function withTimeouts(body: Readable, silenceMs: number, stallMs: number): Readable {
  const guarded = new PassThrough()
  let stalledMs = 0
  const timer = setTimeout(() => {
    // Unread data: the reader is slow, not the store.
    const isStalled = guarded.readableLength > 0
    stalledMs += silenceMs
    if (isStalled && stalledMs < stallMs) timer.refresh()
    else
      guarded.destroy(
        new StoreTimeout(isStalled ? `nothing read for ${stallMs} ms` : `no byte for ${silenceMs} ms`),
      )
  }, silenceMs)
  body.on('data', () => {
    stalledMs = 0
    timer.refresh()
  })
  // Errors reach the reader through `guarded`.
  pipeline(body, guarded, () => clearTimeout(timer))
  return guarded
}

/**
 * Returns the same store, whose streams resume where the connection broke: the client was already promised all bytes, and
 * cannot be sent an error any more. Blobs never change under their key, so the rest matches what was sent.
 */
export function withResumedStreams(store: BlobStore): BlobStore {
  return {
    ...store,
    async stream(key, start, end, caller) {
      const body = await store.stream(key, start, end, caller)
      return body === undefined || end < start
        ? body
        : resumed(body, start, end, (from) => store.stream(key, from, end, caller))
    },
  }
}

function resumed(
  first: Readable,
  start: number,
  end: number,
  open: (from: number) => Promise<Readable | undefined>,
): Readable {
  let body = first
  let position = start

  async function* chunks(): AsyncGenerator<Buffer> {
    for (let resumes = 0; ; resumes++) {
      try {
        for await (const chunk of body) {
          position += chunk.byteLength
          yield chunk
        }
        return
      } catch (error) {
        // Closed by its reader, or broken after its last byte.
        if (whole.destroyed || position > end) return
        if (resumes === MAX_RESUMES || !isTransient(error)) throw error
        const rest = await open(position)
        if (rest === undefined) throw error
        body = rest
        if (whole.destroyed) rest.destroy()
      }
    }
  }

  const whole = Readable.from(chunks(), { objectMode: false, highWaterMark: first.readableHighWaterMark })
  // A generator that waits for a chunk does not notice the end of its reader.
  whole.once('close', () => body.destroy())
  return whole
}

/** SHA-256 in hexadecimal, without blocking the event loop. */
export async function sha256Of(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  if (bytes.byteLength <= SYNC_HASH_BYTES) return hash('sha256', bytes)
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes)).toString('hex')
}

/** SHA-256 of a file in hexadecimal. */
export async function sha256OfFile(path: string): Promise<string> {
  const digest = createHash('sha256')
  await finished(createReadStream(path), digest)
  return digest.digest('hex')
}

/** Writes a stream into a new file. Returns the SHA-256 of its bytes in hexadecimal. */
export async function saveToFile(body: Readable, path: string): Promise<string> {
  const digest = createHash('sha256')
  async function* tapped(chunks: Readable) {
    for await (const chunk of chunks) {
      digest.update(chunk)
      yield chunk
    }
  }
  await finished(body, tapped, createFileStream(path))
  return digest.digest('hex')
}
