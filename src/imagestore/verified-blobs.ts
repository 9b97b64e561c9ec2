import { createHash } from 'node:crypto'
import { pipeline, Transform, type Readable } from 'node:stream'
import { lruCache } from '../lib/lru-cache.ts'
import { BlobDamaged, type BlobStore } from '../storage/blobs/blob-store.ts'
import { hashOfDigest } from './image-hash.ts'
import type { BlobRow } from './image-fields.ts'

type Stored = Pick<BlobRow, 'key' | 'hash'>
type OpenWhole = () => Promise<Readable | undefined>

/** How long ranges of a blob are served after a verification, without another one. */
const VERIFIED_TTL_MS = 60_000
const MAX_VERIFIED_BLOBS = 10_000

export const damagedBlob = ({ key }: Stored): BlobDamaged =>
  new BlobDamaged(
    `${key} does not hold the bytes that were stored: catalejo verify --repair marks it as lost`,
  )

/**
 * Passes on the bytes of a whole blob. Fails before the last chunk if they are not what was stored: the client then has a
 * truncated body, which neither browsers nor caches keep.
 */
export function verifyStream(source: Readable, blob: Stored): Readable {
  const digest = createHash('sha256')
  let held: Uint8Array | undefined
  const check = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      digest.update(chunk)
      if (held !== undefined) this.push(held)
      held = chunk
      done()
    },
    flush(done) {
      if (hashOfDigest(digest.digest()) !== blob.hash) return done(damagedBlob(blob))
      if (held !== undefined) this.push(held)
      done()
    },
  })
  // Destroys both streams together. The reader receives the error.
  return pipeline(source, check, () => {})
}

/**
 * Reads a whole blob and compares it with its record.
 * @param onBytes called with the number of bytes of each chunk
 */
export async function verifyBlob(
  store: BlobStore,
  key: string,
  { hash, size }: Pick<BlobRow, 'hash' | 'size'>,
  onBytes: (bytes: number) => void = () => {},
): Promise<'valid' | 'missing' | 'damaged'> {
  const found = await store.openWhole(key)
  if (found === undefined) return 'missing'
  if (found.size !== size) {
    found.body.destroy()
    return 'damaged'
  }
  const digest = createHash('sha256')
  for await (const chunk of found.body) {
    digest.update(chunk)
    onBytes(chunk.byteLength)
  }
  return hashOfDigest(digest.digest()) === hash ? 'valid' : 'damaged'
}

/** Remembers which blobs were verified recently, because a range alone cannot be verified. */
export class VerifiedBlobs {
  readonly #verified = lruCache<true>(MAX_VERIFIED_BLOBS, { ttl: VERIFIED_TTL_MS })
  readonly #reading = new Map<string, Promise<void>>()

  /** Reads the whole blob unless it was verified lately. Concurrent calls share one read. @throws BlobDamaged */
  async verify(blob: Stored, open: OpenWhole): Promise<void> {
    if (this.#verified.has(blob.key)) return
    let reading = this.#reading.get(blob.key)
    if (reading === undefined) {
      reading = this.#read(blob, open).finally(() => this.#reading.delete(blob.key))
      this.#reading.set(blob.key, reading)
    }
    await reading
  }

  async #read(blob: Stored, open: OpenWhole): Promise<void> {
    const chunks = await open()
    // The caller finds it missing when it reads the range.
    if (chunks === undefined) return
    for await (const _ of verifyStream(chunks, blob));
    this.#verified.set(blob.key, true)
  }
}
