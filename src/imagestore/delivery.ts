import type { Readable } from 'node:stream'
import type { BlobAddress, BlobStore } from '../storage/blobs/blob-store.ts'
import type { Clock } from '../lib/clock.ts'
import type { Database } from '../storage/database/database.ts'
import type { Caller, Derivative, DerivativeCache } from './derivatives/cache.ts'
import type { Rendered } from './derivatives/checksummed-file.ts'
import type { ImageEngine, Requesters, WatermarkFile } from './decoder/index.ts'
import { isHashOf } from './hash.ts'
import { HotImages } from './hot-images.ts'
import type { MarkPlace } from './image-settings.ts'
import { damaged, IntactBlobs, verified } from './integrity.ts'
import { KnownImages } from './known-images.ts'
import type { SettledPlan } from './links/modifiers/index.ts'
import { blobByKey, type BlobRow } from './queries.ts'

/** Larger originals are streamed from the store, not kept in memory. */
const MAX_CACHED_BYTES = 1024 * 1024

/** Watermarks are everybody's: copies of them count for no client. */
const MARKS = 'watermarks'

/** How a derivative is made. */
export interface Recipe {
  /** From `derivativeName`. */
  readonly name: string
  readonly plan: SettledPlan
  /** The image that is laid over it. */
  readonly mark: { readonly blob: BlobRow; readonly place: MarkPlace } | undefined
}

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
  readonly images: KnownImages
  readonly #hot: HotImages
  readonly #derivatives: DerivativeCache
  readonly #intact = new IntactBlobs()

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
    this.#database = database
    this.#blobs = blobs
    this.#engine = engine
    this.#derivatives = derivatives
    this.#redirectBytes = redirectBytes
    this.images = new KnownImages(database, clock)
    this.#hot = new HotImages(cacheBytes)
  }

  /** Images that were in memory when asked for, and those that were not. */
  hits = 0
  misses = 0

  get cachedBytes(): number {
    return this.#hot.bytes
  }

  /** Whether a blob is still the one under its hash: then its bytes should be there. */
  async isRecorded({ key }: BlobRow): Promise<boolean> {
    return (await this.#database.first(blobByKey(key))) !== undefined
  }

  /** What is in memory. @param key `keyOf` */
  atHand(key: string): Rendered | undefined {
    const hot = this.#hot.get(key)
    if (hot !== undefined) this.hits++
    return hot
  }

  /** The uploaded bytes, if they are in memory or the store can read them without a wait. */
  originalSync(blob: BlobRow): Rendered | undefined {
    const { key, size, mime } = blob
    const hot = this.atHand(key)
    const { readSync } = this.#blobs
    if (hot !== undefined || readSync === undefined) return hot
    if (size > MAX_CACHED_BYTES || this.#locator(blob) !== undefined) return undefined
    const isKept = this.#hot.wants(key, size)
    const bytes = Buffer.allocUnsafeSlow(size)
    // A mismatch is left to `original`, which reports it.
    if (!readSync(key, bytes) || !isHashOf(bytes, blob.hash)) return undefined
    this.misses++
    if (isKept) this.#hot.set(key, { bytes, mime })
    return { bytes, mime }
  }

  /** The same for a derivative that was made before. */
  derivativeSync(blobKey: string, name: string, key: string): Rendered | undefined {
    const hot = this.atHand(key)
    if (hot !== undefined) return hot
    const read = this.#derivatives.readSync(blobKey, name)
    if (read === undefined) return undefined
    this.misses++
    if (this.#hot.wants(key, read.bytes.byteLength)) this.#hot.set(key, read)
    return read
  }

  /**
   * The bytes as they were uploaded; undefined when the blob was deleted meanwhile.
   * @param lasts whether the image has no end
   * @param client who asks
   * @throws BlobDamaged when the store holds other bytes
   */
  async original(blob: BlobRow, lasts: boolean, client: string): Promise<Content | undefined> {
    // What the store lends it lends for a time of its own, past the end of an image that has one.
    const locate = lasts ? this.#locator(blob) : undefined
    if (blob.size > MAX_CACHED_BYTES || locate !== undefined) {
      return {
        kind: 'stream',
        mime: blob.mime,
        open: (start, end) => this.#open(blob, start, end, client),
        locate,
      }
    }
    const cached = this.#fromMemory(blob.key)
    if (cached !== undefined) return { kind: 'bytes', ...cached }
    const bytes = await this.#blobs.read(blob.key, blob.size, client)
    if (bytes === undefined) return undefined
    if (!isHashOf(bytes, blob.hash)) throw damaged(blob)
    const hot = { bytes, mime: blob.mime }
    if (this.#hot.wants(blob.key, blob.size, client)) this.#hot.set(blob.key, hot, client)
    return { kind: 'bytes', ...hot }
  }

  async #open(blob: BlobRow, start: number, end: number, client: string): Promise<Readable | undefined> {
    const { key, size } = blob
    const isWhole = start === 0 && end === size - 1
    if (!isWhole) await this.#intact.assert(blob, () => this.#blobs.stream(key, 0, size - 1, client))
    const stream = await this.#blobs.stream(key, start, end, client)
    return stream && isWhole ? verified(stream, blob) : stream
  }

  /** Only for what cannot run script: the headers that keep an SVG from it are this service's own. */
  #locator({ key, mime, size, format }: BlobRow): (() => Promise<BlobAddress>) | undefined {
    const { locate } = this.#blobs
    if (locate === undefined || format === 'svg' || this.#redirectBytes === 0) return undefined
    return size < this.#redirectBytes ? undefined : () => locate(key, mime)
  }

  /**
   * The image that the recipe describes; undefined when the blob was deleted meanwhile.
   * @throws BlobDamaged when the store holds other bytes than were uploaded
   */
  async derivative(blob: BlobRow, recipe: Recipe, caller: Caller): Promise<Derivative | undefined> {
    const { name, plan, mark } = recipe
    const key = keyOf(blob.key, name)
    const cached = this.#fromMemory(key)
    if (cached !== undefined) return { kind: 'bytes', ...cached }
    const { client } = caller
    const make = (abandoned: AbortSignal, requesters: Requesters, watermark?: WatermarkFile) =>
      this.#blobs.withLocalFile(
        blob.key,
        (path) => this.#engine.derive(path, plan, abandoned, { watermark, requesters, hash: blob.hash }),
        client,
      )
    const derived = await this.#derivatives.get(
      blob.key,
      name,
      (abandoned, requesters) => {
        if (mark === undefined) return make(abandoned, requesters)
        const withMark = (path: string) =>
          make(abandoned, requesters, { path, place: mark.place, hash: mark.blob.hash })
        // First the mark, of which there are few: who holds a copy of an image then never waits for another one.
        return this.#blobs.withLocalFile(mark.blob.key, withMark, MARKS)
      },
      caller,
    )
    if (derived?.kind === 'bytes') {
      const { bytes, mime } = derived
      if (this.#hot.wants(key, bytes.byteLength, client)) this.#hot.set(key, { bytes, mime }, client)
    } else if (derived?.kind === 'damaged') {
      // Not the image is at fault: its file was deleted while it waited for its turn.
      if (!(await this.isRecorded(blob))) return undefined
      if (derived.isAltered === true) throw damaged(blob)
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

/** What an image is called in memory. @param name of the derivative; undefined for the original */
export const keyOf = (blobKey: string, name: string | undefined): string =>
  name === undefined ? blobKey : `${blobKey}/${name}`
