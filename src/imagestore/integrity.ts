import { createHash } from 'node:crypto'
import { pipeline, Transform, type Readable } from 'node:stream'
import { LRUCache } from 'lru-cache'
import { BlobDamaged } from '../storage/blobs/blob-store.ts'
import { hashOfDigest } from './hash.ts'
import type { BlobRow } from './queries.ts'

type Stored = Pick<BlobRow, 'key' | 'hash'>
type OpenWhole = () => Promise<Readable | undefined>

/** After a whole read, ranges of the same blob are served for this long without another one. */
const INTACT_MS = 60_000
const MAX_INTACT = 10_000

export const damaged = ({ key }: Stored): BlobDamaged =>
  new BlobDamaged(
    `${key} does not hold the bytes that were stored: catalejo verify --repair marks it as lost`,
  )

/**
 * Passes on the bytes of a whole blob and fails before the last of them if they are not what was stored: the client then has a
 * body that is too short, which neither browsers nor caches keep.
 */
export function verified(source: Readable, blob: Stored): Readable {
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
      if (hashOfDigest(digest.digest()) !== blob.hash) return done(damaged(blob))
      if (held !== undefined) this.push(held)
      done()
    },
  })
  // Destroys each of the two with the other; a fault reaches whoever reads.
  return pipeline(source, check, () => {})
}

/** Remembers which blobs were found intact a moment ago: a part of one cannot be verified by itself. */
export class IntactBlobs {
  readonly #intact = new LRUCache<string, true>({ max: MAX_INTACT, ttl: INTACT_MS })
  readonly #reading = new Map<string, Promise<void>>()

  /** Reads all of a blob unless that was done a moment ago. Concurrent calls share one read. @throws BlobDamaged */
  async assert(blob: Stored, open: OpenWhole): Promise<void> {
    if (this.#intact.has(blob.key)) return
    let reading = this.#reading.get(blob.key)
    if (reading === undefined) {
      reading = this.#read(blob, open).finally(() => this.#reading.delete(blob.key))
      this.#reading.set(blob.key, reading)
    }
    await reading
  }

  async #read(blob: Stored, open: OpenWhole): Promise<void> {
    const chunks = await open()
    // Whoever reads a part of it finds it missing.
    if (chunks === undefined) return
    for await (const _ of verified(chunks, blob));
    this.#intact.set(blob.key, true)
  }
}
