import { createHash } from 'node:crypto'
import { addAbortSignal, pipeline, Transform, type Readable } from 'node:stream'
import { abortable } from '../lib/concurrency.ts'
import type { Caller } from '../lib/requesters.ts'
import { lruCache } from '../lib/lru-cache.ts'
import { BlobDamaged, type BlobStore } from '../storage/blobs/blob-store.ts'
import { hashOfDigest } from './image-hash.ts'
import type { BlobRow } from './image-fields.ts'

type Stored = Pick<BlobRow, 'key' | 'hash'>
type OpenWhole = (caller: Caller) => Promise<Readable | undefined>

/** A read of a whole blob. */
interface Reading {
  readonly end: Promise<void>
  readonly abandoned: AbortController
  callers: number
}

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
  readonly #reading = new Map<string, Reading>()

  /** Reads the whole blob unless it was verified lately. Concurrent calls share one read, until all have left. @throws BlobDamaged */
  async verify(blob: Stored, open: OpenWhole, { client, signal }: Caller): Promise<void> {
    const { key } = blob
    if (this.#verified.has(key)) return
    const reading = this.#reading.get(key) ?? this.#start(blob, open, client)
    reading.callers++
    try {
      await abortable(reading.end, signal)
    } finally {
      if (--reading.callers === 0) {
        this.#reading.delete(key)
        reading.abandoned.abort()
      }
    }
  }

  #start(blob: Stored, open: OpenWhole, client: Caller['client']): Reading {
    const abandoned = new AbortController()
    const { signal } = abandoned
    const read = async () => {
      const chunks = await open({ client, signal })
      // The caller finds it missing when it reads the range.
      if (chunks === undefined) return
      for await (const _ of addAbortSignal(signal, verifyStream(chunks, blob)));
      this.#verified.set(blob.key, true)
    }
    const reading = { end: read(), abandoned, callers: 0 }
    this.#reading.set(blob.key, reading)
    return reading
  }
}
