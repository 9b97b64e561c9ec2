import { LRUCache } from 'lru-cache'

/** Part of a cache beyond which a client does not evict the entries of others. */
const MAX_CLIENT_SHARE = 1 / 2

interface Entry<V> {
  readonly value: V
  readonly size: number
  /** Who requested it when it was added. */
  readonly client: string
  /** Whether it was requested since it was added, or since its client last looked for one to replace. */
  isUsed: boolean
}

/** What a client added. */
interface Owned {
  size: number
  /** In the order in which they are replaced. */
  readonly keys: Set<string>
}

const NOTHING_OWNED: Owned = { size: 0, keys: new Set() }

/**
 * Keeps the most recently used values, up to a total size. A client that walks through everything fills half of it at most, as
 * long as others use the rest: beyond that it replaces its own. Design decision: docs/decisions/040-image-cache.md.
 */
export class FairCache<V extends {}> {
  readonly #maxSize: number
  readonly #sizeOf: (value: V) => number
  readonly #ownedBy = new Map<string, Owned>()
  #entries: LRUCache<string, Entry<V>>

  /**
   * @param maxSize 0 keeps nothing
   * @param sizeOf by default values are counted
   */
  constructor(maxSize: number, sizeOf: (value: V) => number = () => 1) {
    this.#maxSize = maxSize
    this.#sizeOf = sizeOf
    this.#entries = this.#create()
  }

  /** Total size of the values. */
  get size(): number {
    return this.#entries.calculatedSize
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    entry.isUsed = true
    return entry.value
  }

  /** Adds a value, unless it is too large. In a full cache, a client that has its share replaces its own values. */
  set(key: string, value: V, client: string): void {
    const size = this.#sizeOf(value)
    if (size > this.#maxSize) return
    const replaced = this.#entries.peek(key)?.size ?? 0
    const missing = this.#entries.calculatedSize - replaced + size - this.#maxSize
    if (missing > 0) {
      const owned = this.#ownedBy.get(client) ?? NOTHING_OWNED
      const hasShare = owned.size + size > this.#maxSize * MAX_CLIENT_SHARE
      if (hasShare && !this.#evictOwn(owned, missing)) return
    }
    const entry = { value, size, client, isUsed: false }
    this.#entries.set(key, entry)
    this.#charge(entry, key)
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }

  /** Takes no time for each entry. */
  clear(): void {
    this.#entries = this.#create()
    this.#ownedBy.clear()
  }

  #create(): LRUCache<string, Entry<V>> {
    return new LRUCache({
      maxSize: Math.max(1, this.#maxSize),
      sizeCalculation: ({ size }) => size,
      dispose: (entry, key) => this.#discharge(entry, key),
    })
  }

  /** Removes values of a client, those not requested lately first. Returns false if it has too few. */
  #evictOwn(owned: Owned, size: number): boolean {
    if (owned.size < size) return false
    const end = owned.size - size
    for (const key of owned.keys) {
      if (owned.size <= end) break
      const entry = this.#entries.peek(key)
      if (entry?.isUsed === true) {
        // Its second chance (the clock algorithm).
        entry.isUsed = false
        owned.keys.delete(key)
        owned.keys.add(key)
      } else this.#entries.delete(key)
    }
    return true
  }

  #charge({ client, size }: Entry<V>, key: string): void {
    const owned = this.#ownedBy.get(client) ?? { size: 0, keys: new Set() }
    this.#ownedBy.set(client, owned)
    owned.size += size
    owned.keys.add(key)
  }

  #discharge({ client, size }: Entry<V>, key: string): void {
    const owned = this.#ownedBy.get(client)
    if (owned === undefined) return
    owned.size -= size
    owned.keys.delete(key)
    if (owned.keys.size === 0) this.#ownedBy.delete(client)
  }
}
