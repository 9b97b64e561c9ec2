import { hash, webcrypto } from 'node:crypto'

/** Hashing less than this takes less time than handing it to another thread. */
const SYNC_BYTES = 64 * 1024

/** SHA-256 in hexadecimal, without blocking the event loop. */
export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  if (bytes.byteLength <= SYNC_BYTES) return hash('sha256', bytes)
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes)).toString('hex')
}
