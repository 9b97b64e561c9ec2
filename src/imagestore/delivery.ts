import type { Client, Caller } from '../lib/client.ts'
import { secondsOf, type Clock } from '../lib/clock.ts'
import { type Database, VersionedCache } from '../storage/database/database.ts'
import { isImageHash, type ImageHash, type BlobRow } from './image-fields.ts'
import type { Alias, Holder } from './links/link.ts'
import { aliasTarget } from './queries-settings.ts'
import { blobWithHolders, type HolderRow, heldKeys } from './queries.ts'
import type { Readable } from 'node:stream'
import type { LRUCache } from 'lru-cache'
import type { ResolvedTransformation } from './modifiers/index.ts'
import { lruCacheOfBytes } from '../lib/lru-cache.ts'
import type { BlobAddress, BlobStore } from '../storage/blobs/blob-store.ts'
import type { Derivation, DerivedImage, ImageEngine, WatermarkFile } from './decoder/index.ts'
import type { DerivativeCache } from './derivatives.ts'
import type { WatermarkPlacement } from './definitions.ts'

const MAX_CACHED_IMAGES = 100_000

/** An image as public links see it. */
export interface KnownImage {
  readonly blob: BlobRow
  /** The applications that hold it, in a fixed order. */
  readonly holders: readonly (Holder & { readonly account_id: number })[]
  /** When the last holder's record expires, in seconds since 1970; undefined if one never does. */
  readonly expires: number | undefined
  /** The point that `g_auto` keeps: that of the first holder that set one. */
  readonly focus: { readonly x: number; readonly y: number } | undefined
  /** Equal as long as links to it mean the same and are allowed to the same extent. */
  readonly state: string
}

/** @param now seconds since 1970 */
function knownImage(rows: readonly (BlobRow & HolderRow)[], now: number): KnownImage | undefined {
  const current = rows.filter(({ expires }) => expires === null || expires > now)
  const [first] = current
  if (first === undefined) return undefined
  const { account_id: _, mode: __, secret: ___, expires: ____, focus: _____, ...blob } = first
  const holders = current.map(({ account_id, mode, secret }) => ({ account_id, mode, secret }))
  const focus = current.find((row) => row.focus !== null)?.focus ?? undefined
  const [x = 0.5, y = 0.5] = focus?.split(',').map(Number) ?? []
  const last = Math.max(...current.map(({ expires }) => expires ?? Infinity))
  return {
    blob,
    holders,
    expires: last === Infinity ? undefined : last,
    focus: focus === undefined ? undefined : { x, y },
    state: JSON.stringify([blob.key, holders, focus]),
  }
}

/** Larger originals are streamed from the store, not cached in memory. */
const MAX_CACHED_ORIGINAL_BYTES = 1024 * 1024

/**
 * A full cache admits one missed original in 16, so that a scan of many does not evict those in use: bimodal insertion, of the paper
 * “Adaptive insertion policies for high performance caching” (2007).
 */
const ADMITTED_ONE_IN = 16

/** Memory of a cached image besides its bytes. */
const CACHED_OVERHEAD_BYTES = 512
const sizeInMemory = ({ bytes }: DerivedImage): number => bytes.byteLength + CACHED_OVERHEAD_BYTES

/** How to make a derivative. */
export interface Recipe {
  /** From `derivativeName`. */
  readonly name: string
  readonly transformation: ResolvedTransformation
  readonly mark: { readonly blob: BlobRow; readonly place: WatermarkPlacement } | undefined
}

/** Bytes in memory, or a way to stream a part of them: `start` to `end`, both included. */
export type Content =
  | (DerivedImage & {
      /** Whether nobody else uses the bytes, which can be freed once they are sent. */
      readonly isOwn?: boolean
    })
  | {
      readonly kind: 'stream'
      readonly mime: string
      readonly open: (start: number, end: number) => Promise<Readable | undefined>
      /** The address of all bytes in the store, if clients are redirected there. */
      readonly locate: (() => Promise<BlobAddress>) | undefined
    }

export interface DeliveryOptions {
  readonly database: Database
  readonly blobs: BlobStore
  readonly engine: ImageEngine
  readonly derivatives: DerivativeCache
  /** Memory for originals and derivatives; 0 for none. */
  readonly cacheBytes: number
  /** Clients are redirected to the store for originals of this size and larger, if it can; 0 for never. */
  readonly redirectBytes: number
  readonly clock: Clock
}

/** Finds the images that public links name, and finds or makes the bytes that they serve. */
export class Delivery {
  readonly #options: DeliveryOptions
  /**
   * Images, and the rows of those that expire, one for each holder. Any change may be a deletion, or of delivery settings, so each
   * one invalidates all. Bytes need no invalidation: their keys are never reused.
   */
  readonly #images: VersionedCache<KnownImage | readonly (BlobRow & HolderRow)[]>
  readonly #cache: LRUCache<string, DerivedImage>

  constructor(options: DeliveryOptions) {
    this.#options = options
    this.#images = new VersionedCache(options.database, ['image', 'account'], MAX_CACHED_IMAGES)
    this.#cache = lruCacheOfBytes(options.cacheBytes, sizeInMemory)
  }

  /**
   * The image of a hash, or of an alias whose application still holds it.
   * @param client whose turn a read from the database uses; unknown images are not cached
   * @throws OverloadError if too many reads wait
   */
  async find(image: ImageHash | Alias, client: Client): Promise<KnownImage | undefined> {
    const reader = this.#options.database.readerOf(client)
    if (typeof image !== 'string') {
      const target = await reader.first(aliasTarget(image.account, image.name))
      if (target === undefined || !isImageHash(target.hash)) return undefined
      const known = await this.find(target.hash, client)
      return known?.holders.some(({ account_id }) => account_id === target.account_id) ? known : undefined
    }
    const found = await this.#images.get(image, async () => {
      const rows = await reader.all(blobWithHolders(image))
      return rows.every(({ expires }) => expires === null) ? knownImage(rows, 0) : rows
    })
    return found instanceof Array ? knownImage(found, secondsOf(this.#options.clock)) : found
  }

  /** Changes with each change that may affect an image or its visibility. */
  get version(): number {
    return this.#images.version
  }

  /** The state of a cached image that does not expire. */
  peekState(hash: ImageHash): string | undefined {
    const found = this.#images.peek(hash)
    return found instanceof Array ? undefined : found?.state
  }

  /** Requests for images in memory, and for others. */
  hits = 0
  misses = 0

  get cachedBytes(): number {
    return this.#cache.calculatedSize
  }

  /** Whether a blob is current: then its bytes should be in the store. */
  async isRecorded({ key }: BlobRow): Promise<boolean> {
    return (await this.#options.database.first(heldKeys([key]))) !== undefined
  }

  /** Returns an image in memory. @param key `cacheKey` */
  cached(key: string): DerivedImage | undefined {
    const cached = this.#cache.get(key)
    if (cached !== undefined) this.hits++
    return cached
  }

  /**
   * The original; undefined if the blob was deleted in the meantime.
   * @param isPermanent whether the image never expires
   * @throws BlobDamaged if the store holds another number of bytes
   */
  async original(blob: BlobRow, isPermanent: boolean, caller: Caller): Promise<Content | undefined> {
    const { key, mime, size } = blob
    // An address of the store has an expiry of its own, which may be after that of the image.
    const locate = isPermanent ? this.#locator(blob) : undefined
    if (size > MAX_CACHED_ORIGINAL_BYTES || locate !== undefined)
      return {
        kind: 'stream',
        mime,
        open: (start, end) => this.#options.blobs.stream(key, start, end, caller),
        locate,
      }
    const cached = this.cached(key)
    if (cached !== undefined) return cached
    this.misses++
    const bytes = await this.#options.blobs.read(key, size, caller)
    if (bytes === undefined) return undefined
    const original: DerivedImage = { kind: 'image', bytes, mime }
    const isFull = this.cachedBytes + sizeInMemory(original) > this.#options.cacheBytes
    if (!isFull || this.misses % ADMITTED_ONE_IN === 0) this.#cache.set(key, original)
    return this.#cache.has(key) ? original : { ...original, isOwn: true }
  }

  /** Not for SVG, which may contain script: the store does not send the headers that disable it. */
  #locator({ key, mime, size, format }: BlobRow): (() => Promise<BlobAddress>) | undefined {
    const { blobs, redirectBytes } = this.#options
    const { locate } = blobs
    if (locate === undefined || format === 'svg') return undefined
    return size < redirectBytes ? undefined : () => locate(key, mime)
  }

  /**
   * Finds or makes a derivative; undefined if the blob was deleted in the meantime.
   * @throws BlobDamaged if the store holds another number of bytes than were uploaded
   */
  async derivative(blob: BlobRow, recipe: Recipe, caller: Caller): Promise<Derivation | undefined> {
    const { blobs, engine, derivatives } = this.#options
    const { name, transformation, mark } = recipe
    const key = cacheKey(blob.key, name)
    const cached = this.cached(key)
    if (cached !== undefined) return cached
    this.misses++
    const render = (signal: AbortSignal) => {
      const turn = { client: caller.client, signal }
      const withFile = <T>({ key, size }: BlobRow, use: (path: string) => Promise<T>) =>
        blobs.withLocalFile(key, use, turn, size)
      const make = (watermark?: WatermarkFile) =>
        withFile(blob, (path) => engine.derive(path, transformation, turn, watermark))
      return mark === undefined ? make() : withFile(mark.blob, (path) => make({ path, place: mark.place }))
    }
    const derived = await derivatives.get(blob.key, name, render, caller)
    if (derived?.kind === 'image') this.#cache.set(key, derived)
    // Its file may have been deleted while the task was waiting.
    if (derived?.kind === 'damaged' && !(await this.isRecorded(blob))) return undefined
    return derived
  }
}

/** The key of an image in the memory cache. @param name of the derivative; undefined for the original */
export const cacheKey = (blobKey: string, name: string | undefined): string =>
  name === undefined ? blobKey : `${blobKey}/${name}`
