import type { Readable } from 'node:stream'
import { LRUCache } from 'lru-cache'
import type { BlobAddress, BlobStore } from '../blobs/blob-store.ts'
import type { Database } from '../database/database.ts'
import { VersionedCache } from '../database/versioned-cache.ts'
import type { Derivative, DerivativeCache } from './derivatives/cache.ts'
import type { Rendered } from './derivatives/sealed.ts'
import type { ImageEngine } from './engine/index.ts'
import type { ImageHash } from './hash.ts'
import type { Plan } from './modifiers/index.ts'
import type { Clock } from '../core/clock.ts'
import { secondsOf } from './lifetime.ts'
import { blobByKey, linkedBlob, type BlobRow, type LinkedBlobRow } from './queries.ts'

/** Larger originals are streamed from the store, not kept in memory. */
const MAX_CACHED_BYTES = 1024 * 1024
const MAX_LOOKUPS = 100_000

/** What of an image is sent: bytes at hand, or a way to stream a part of them (`start` to `end`, both included). */
export type Content =
  | (Rendered & { readonly kind: 'bytes' })
  | {
      readonly kind: 'stream'
      readonly mime: string
      readonly open: (start: number, end: number) => Promise<Readable | undefined>
      /** Where a client may fetch all of it instead, for images that are left to the store. */
      readonly locate: (() => Promise<BlobAddress>) | undefined
    }

/** Finds what public links serve, with what is asked for often kept in memory, bounded by bytes. */
export class Delivery {
  readonly #database: Database
  readonly #blobs: BlobStore
  readonly #engine: ImageEngine
  readonly #redirectBytes: number
  readonly #clock: Clock
  readonly #lookups: VersionedCache<LinkedBlobRow>
  readonly #hot: LRUCache<string, Rendered>
  readonly #derivatives: DerivativeCache

  /**
   * @param cacheBytes memory for originals and derivatives; 0 keeps none
   * @param redirectBytes originals from this size on are left to the store, where it can; 0 leaves none
   */
  constructor(
    database: Database,
    blobs: BlobStore,
    engine: ImageEngine,
    derivatives: DerivativeCache,
    cacheBytes: number,
    redirectBytes: number,
    clock: Clock,
  ) {
    this.#clock = clock
    this.#database = database
    this.#blobs = blobs
    this.#engine = engine
    this.#derivatives = derivatives
    this.#redirectBytes = redirectBytes
    this.#lookups = new VersionedCache(database, 'image', MAX_LOOKUPS)
    this.#hot = new LRUCache({
      maxSize: Math.max(1, cacheBytes),
      sizeCalculation: ({ bytes }) => bytes.byteLength + 512,
    })
  }

  /** Images that were in memory when asked for, and those that were not. */
  hits = 0
  misses = 0

  get cachedBytes(): number {
    return this.#hot.calculatedSize
  }

  /** The blob that an application holds under this hash at this moment. */
  async find(hash: ImageHash): Promise<LinkedBlobRow | undefined> {
    // Any change of an image may be a deletion, and this cache forgets all at each. The bytes need no such care: their
    // keys never come back.
    const blob = await this.#lookups.get(hash, () => this.#database.first(linkedBlob(hash)))
    return blob === undefined || this.lifetime(blob) === 0 ? undefined : blob
  }

  /** Whole seconds that are left of a blob; undefined where there is no end. */
  lifetime({ expires }: LinkedBlobRow): number | undefined {
    return expires === null ? undefined : Math.max(0, expires - secondsOf(this.#clock))
  }

  /** Whether a blob is still the one under its hash: then its bytes should be there. */
  async isRecorded({ key }: BlobRow): Promise<boolean> {
    return (await this.#database.first(blobByKey(key))) !== undefined
  }

  /** The same where it is known at this moment, and lasts for good. */
  known(hash: ImageHash): BlobRow | undefined {
    const blob = this.#lookups.peek(hash)
    return blob?.expires === null ? blob : undefined
  }

  /** What is in memory of a blob: its bytes, or those of a derivative. */
  atHand(blobKey: string, name: string | undefined): Rendered | undefined {
    const hot = this.#hot.get(name === undefined ? blobKey : `${blobKey}/${name}`)
    if (hot !== undefined) this.hits++
    return hot
  }

  /** The bytes as they were uploaded; undefined when the blob was deleted meanwhile. */
  async original(blob: LinkedBlobRow): Promise<Content | undefined> {
    if (blob.size > MAX_CACHED_BYTES || this.#locator(blob) !== undefined) {
      return {
        kind: 'stream',
        mime: blob.mime,
        open: (start, end) => this.#blobs.stream(blob.key, start, end),
        locate: this.#locator(blob),
      }
    }
    const cached = this.#fromMemory(blob.key)
    if (cached !== undefined) return { kind: 'bytes', ...cached }
    const bytes = await this.#blobs.read(blob.key, blob.size)
    if (bytes === undefined) return undefined
    const hot = { bytes, mime: blob.mime }
    this.#hot.set(blob.key, hot)
    return { kind: 'bytes', ...hot }
  }

  /** Only for what cannot run script: the headers that keep an SVG from it are this service's own. */
  #locator({ key, mime, size, format, expires }: LinkedBlobRow): (() => Promise<BlobAddress>) | undefined {
    const { locate } = this.#blobs
    // What the store lends it lends for a time of its own, past the end of an image that has one.
    if (expires !== null) return undefined
    if (locate === undefined || format === 'svg' || this.#redirectBytes === 0) return undefined
    return size < this.#redirectBytes ? undefined : () => locate(key, mime)
  }

  /**
   * The image that `plan` describes; undefined when the blob was deleted meanwhile.
   * @param name from `derivativeName`
   */
  async derivative(blob: BlobRow, plan: Plan, name: string): Promise<Derivative | undefined> {
    const key = `${blob.key}/${name}`
    const cached = this.#fromMemory(key)
    if (cached !== undefined) return { kind: 'bytes', ...cached }
    const derived = await this.#derivatives.get(blob.key, name, () =>
      this.#blobs.lend(blob.key, (path) => this.#engine.derive(path, plan)),
    )
    if (derived?.kind === 'bytes') {
      this.#hot.set(key, { bytes: derived.bytes, mime: derived.mime })
    } else if (derived?.kind === 'damaged' && !(await this.isRecorded(blob))) {
      // Not the image is at fault: its file was deleted while it waited for its turn.
      return undefined
    }
    return derived
  }

  #fromMemory(key: string): Rendered | undefined {
    const hot = this.#hot.get(key)
    if (hot === undefined) this.misses++
    else this.hits++
    return hot
  }
}
