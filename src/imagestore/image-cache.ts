import { LRUCache } from 'lru-cache'
import type { Rendered } from './decoder/index.ts'

/** Memory of an entry besides its bytes. */
const ENTRY_OVERHEAD_BYTES = 512
/** Part of the memory beyond which a client does not evict the images of others. */
const MAX_CLIENT_SHARE = 1 / 2

interface Entry {
  readonly image: Rendered
  /** Who requested it when it was added. */
  readonly client: string
  /** Whether it was requested since it was added, or since its client last looked for one to replace. */
  isUsed: boolean
}

/** What a client added. */
interface Owned {
  bytes: number
  /** In the order in which they are replaced. */
  readonly keys: Set<string>
}

const sizeOfEntry = ({ image }: Entry): number => image.bytes.byteLength + ENTRY_OVERHEAD_BYTES

const NOTHING_OWNED: Owned = { bytes: 0, keys: new Set() }

/**
 * Keeps the most recently used images in memory, up to a number of bytes. A client that walks through all images fills half
 * of it at most, as long as others use the rest: beyond that it replaces its own. Design decision: docs/decisions/040-image-cache.md.
 */
export class ImageCache {
  readonly #images: LRUCache<string, Entry>
  readonly #ownedBy = new Map<string, Owned>()
  readonly #maxBytes: number

  /** @param maxBytes 0 keeps nothing */
  constructor(maxBytes: number) {
    this.#maxBytes = Math.max(1, maxBytes)
    this.#images = new LRUCache({
      maxSize: this.#maxBytes,
      sizeCalculation: sizeOfEntry,
      dispose: (entry, key) => this.#discharge(entry, key),
    })
  }

  get bytes(): number {
    return this.#images.calculatedSize
  }

  get(key: string): Rendered | undefined {
    const entry = this.#images.get(key)
    if (entry === undefined) return undefined
    entry.isUsed = true
    return entry.image
  }

  /** Adds an image, unless it is too large. In a full cache, a client that has its share replaces its own images. */
  set(key: string, image: Rendered, client: string): void {
    const entry = { image, client, isUsed: false }
    const size = sizeOfEntry(entry)
    if (size > this.#maxBytes) return
    const missing = this.#images.calculatedSize + size - this.#maxBytes
    if (missing > 0) {
      const owned = this.#ownedBy.get(client) ?? NOTHING_OWNED
      const hasShare = owned.bytes + size > this.#maxBytes * MAX_CLIENT_SHARE
      if (hasShare && !this.#evictOwn(owned, missing)) return
    }
    this.#images.set(key, entry)
    this.#charge(entry, key)
  }

  /** Removes images of a client, those not requested lately first. Returns false if it has too few. */
  #evictOwn(owned: Owned, bytes: number): boolean {
    if (owned.bytes < bytes) return false
    const end = owned.bytes - bytes
    for (const key of owned.keys) {
      if (owned.bytes <= end) break
      const entry = this.#images.peek(key)
      if (entry?.isUsed === true) {
        // Its second chance (the clock algorithm).
        entry.isUsed = false
        owned.keys.delete(key)
        owned.keys.add(key)
      } else this.#images.delete(key)
    }
    return true
  }

  #charge(entry: Entry, key: string): void {
    const owned = this.#ownedBy.get(entry.client) ?? { bytes: 0, keys: new Set() }
    this.#ownedBy.set(entry.client, owned)
    owned.bytes += sizeOfEntry(entry)
    owned.keys.add(key)
  }

  #discharge(entry: Entry, key: string): void {
    const owned = this.#ownedBy.get(entry.client)
    if (owned === undefined) return
    owned.bytes -= sizeOfEntry(entry)
    owned.keys.delete(key)
    if (owned.keys.size === 0) this.#ownedBy.delete(entry.client)
  }
}
