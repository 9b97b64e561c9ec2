import type { Readable } from 'node:stream'
import { LRUCache } from 'lru-cache'
import type { BlobStore } from '../blobs/blob-store.ts'
import type { Database } from '../database/database.ts'
import type { Derivation, ImageEngine } from './engine/index.ts'
import type { ImageHash } from './hash.ts'
import { canonical, type Plan } from './modifiers/index.ts'
import { blobByHash, type BlobRow } from './queries.ts'

/** Larger originals are streamed from the store, not kept in memory. */
const MAX_CACHED_BYTES = 1024 * 1024
const MAX_LOOKUPS = 100_000

interface Hot {
  readonly bytes: Uint8Array
  readonly mime: string
}

type Bytes = Hot & { readonly kind: 'bytes' }

/** What of an image is sent: bytes at hand, or a way to stream a part of them (`start` to `end`, both included). */
export type Content =
  | Bytes
  | {
      readonly kind: 'stream'
      readonly mime: string
      readonly open: (start: number, end: number) => Promise<Readable | undefined>
    }

export type Derivative = Bytes | Exclude<Derivation, { readonly kind: 'image' }>

/** Finds what public links serve, with what is asked for often kept in memory, bounded by bytes. */
export class Delivery {
  readonly #database: Database
  readonly #blobs: BlobStore
  readonly #engine: ImageEngine
  readonly #lookups = new LRUCache<string, BlobRow>({ max: MAX_LOOKUPS })
  #lookedUpAt: number
  readonly #hot: LRUCache<string, Hot>
  readonly #deriving = new Map<string, Promise<Derivative | undefined>>()

  /** @param cacheBytes memory for originals and derivatives; 0 keeps none */
  constructor(database: Database, blobs: BlobStore, engine: ImageEngine, cacheBytes: number) {
    this.#database = database
    this.#blobs = blobs
    this.#engine = engine
    this.#lookedUpAt = database.version()
    this.#hot = new LRUCache({
      maxSize: Math.max(1, cacheBytes),
      sizeCalculation: ({ bytes }) => bytes.byteLength + 512,
    })
  }

  get cachedBytes(): number {
    return this.#hot.calculatedSize
  }

  /** The blob that an application holds under this hash at this moment. */
  async find(hash: ImageHash): Promise<BlobRow | undefined> {
    // Any commit may have been a deletion. The bytes below need no such care: their keys never come back.
    const version = this.#database.version()
    if (version !== this.#lookedUpAt) {
      this.#lookups.clear()
      this.#lookedUpAt = version
    }
    const known = this.#lookups.get(hash)
    if (known !== undefined) return known
    const blob = await this.#database.first(blobByHash(hash))
    if (blob !== undefined && this.#database.version() === version) this.#lookups.set(hash, blob)
    return blob
  }

  /** The bytes as they were uploaded; undefined when the blob was deleted meanwhile. */
  async original(blob: BlobRow): Promise<Content | undefined> {
    if (blob.size > MAX_CACHED_BYTES) {
      return {
        kind: 'stream',
        mime: blob.mime,
        open: (start, end) => this.#blobs.stream(blob.key, start, end),
      }
    }
    const cached = this.#hot.get(blob.key)
    if (cached !== undefined) return { kind: 'bytes', ...cached }
    const bytes = await this.#blobs.read(blob.key, blob.size)
    if (bytes === undefined) return undefined
    const hot = { bytes, mime: blob.mime }
    this.#hot.set(blob.key, hot)
    return { kind: 'bytes', ...hot }
  }

  /** The image that `plan` describes; undefined when the blob was deleted meanwhile. */
  async derivative(blob: BlobRow, plan: Plan): Promise<Derivative | undefined> {
    const key = `${blob.key} ${canonical(plan)}`
    const cached = this.#hot.get(key)
    if (cached !== undefined) return { kind: 'bytes', ...cached }
    // Equal requests in flight share one computation, whoever of them stays.
    let running = this.#deriving.get(key)
    if (running === undefined) {
      running = this.#derive(blob, plan, key).finally(() => this.#deriving.delete(key))
      this.#deriving.set(key, running)
    }
    return running
  }

  async #derive(blob: BlobRow, plan: Plan, key: string): Promise<Derivative | undefined> {
    const derived = await this.#blobs.lend(blob.key, (path) => this.#engine.derive(path, plan))
    if (derived?.kind !== 'image') return derived
    const hot = { bytes: derived.bytes, mime: derived.mime }
    this.#hot.set(key, hot)
    return { kind: 'bytes', ...hot }
  }
}
