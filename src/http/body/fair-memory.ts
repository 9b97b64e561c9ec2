import { OverloadError } from '../../lib/errors.ts'

/** One level in the hierarchy of shares, such as an account or an address. */
export interface ShareKey {
  readonly name: string
  /** Bytes of all leases below it. */
  readonly limit: number
}

interface Share extends ShareKey {
  bytes: number
  holders: number
  readonly children: Map<string, Share>
}

/**
 * A memory budget with fair shares: when it is full, a lease of a client that holds less evicts a lease of the client that holds
 * the most. So a few clients can use all of it while there is no other demand, but cannot keep it from others.
 */
export class FairMemory {
  readonly #root: Share
  readonly #evictable = new Set<MemoryLease>()
  readonly #maxHolders: number

  /** @param maxHolders concurrent leases per share of the last level */
  constructor(bytes: number, maxHolders: number) {
    this.#root = shareOf({ name: '', limit: bytes })
    this.#maxHolders = maxHolders
  }

  /**
   * Opens a lease of zero bytes.
   * @param onEvicted called after the lease was released in favour of a client that holds less
   * @throws OverloadError if the share has too many leases
   */
  open(keys: readonly ShareKey[], onEvicted: () => void): MemoryLease {
    const path = [this.#root]
    let share = this.#root
    for (const key of keys) {
      share = share.children.get(key.name) ?? shareOf(key)
      path.push(share)
    }
    if (share.holders >= this.#maxHolders) throw new OverloadError()
    path.forEach((each, level) => {
      each.holders++
      path[level - 1]?.children.set(each.name, each)
    })
    const lease = new MemoryLease(this, path, onEvicted)
    this.#evictable.add(lease)
    return lease
  }

  pin(lease: MemoryLease): void {
    this.#evictable.delete(lease)
  }

  close(lease: MemoryLease): void {
    this.#evictable.delete(lease)
    lease.path.forEach((each, level, path) => {
      each.holders--
      // Shares without leases are deleted, so that unknown clients cannot fill the maps.
      if (each.holders === 0) path[level - 1]?.children.delete(each.name)
    })
  }

  /** Evicts the largest lease of the share that holds the most at this level; false if none will hold more than ours. */
  makeRoom(lease: MemoryLease, level: number, bytes: number): boolean {
    const shared = lease.path[level]
    const own = lease.path[level + 1]
    let victim: MemoryLease | undefined
    let most = (own?.bytes ?? Infinity) + bytes
    for (const other of this.#evictable) {
      const held = other.path[level + 1]
      if (held === undefined || held === own || other.path[level] !== shared || held.bytes < most) continue
      const isMore = held.bytes > most || (victim !== undefined && other.bytes > victim.bytes)
      if (isMore) victim = other
      if (isMore) most = held.bytes
    }
    victim?.evict()
    return victim !== undefined
  }
}

const shareOf = (key: ShareKey): Share => ({ ...key, bytes: 0, holders: 0, children: new Map() })

/** Memory held by one client. */
export class MemoryLease {
  /** From the root to the share of the holder. */
  readonly path: readonly Share[]
  readonly #memory: FairMemory
  readonly #onEvicted: () => void
  #bytes = 0
  #isOpen = true

  constructor(memory: FairMemory, path: readonly Share[], onEvicted: () => void) {
    this.#memory = memory
    this.path = path
    this.#onEvicted = onEvicted
  }

  get bytes(): number {
    return this.#bytes
  }

  /** @throws OverloadError if the memory is full and no lease can fairly be evicted */
  grow(bytes: number): void {
    for (let level = this.path.length - 1; level >= 0; level--) {
      const share = this.path[level]
      while (share !== undefined && share.bytes + bytes > share.limit) {
        if (!this.#memory.makeRoom(this, level, bytes)) throw new OverloadError()
      }
    }
    this.#add(bytes)
  }

  /** Makes the lease unevictable, because its memory is being processed. */
  pin(): void {
    this.#memory.pin(this)
  }

  /** Returns all memory. Calling it twice has no effect. */
  release(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#add(-this.#bytes)
    this.#memory.close(this)
  }

  evict(): void {
    this.release()
    this.#onEvicted()
  }

  #add(bytes: number): void {
    this.#bytes += bytes
    for (const share of this.path) share.bytes += bytes
  }
}
