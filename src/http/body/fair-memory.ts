import { OverloadError } from '../../lib/errors.ts'

/** One level of the way from the whole memory to its holder, such as an account or an address. */
export interface ShareKey {
  readonly name: string
  /** Bytes that all holders below it may take together. */
  readonly limit: number
}

interface Share {
  readonly limit: number
  bytes: number
  holders: number
  readonly children: Map<string, Share>
}

/**
 * A memory budget that is shared fairly: when it is full, whoever holds less may displace a holder of the sharer that holds
 * the most. So a few clients can use all of it while nobody else wants any, and none of them can keep it from the others.
 */
export class FairMemory {
  readonly #root: Share
  readonly #displaceable = new Set<MemoryLease>()
  readonly #maxHolders: number

  /** @param maxHolders leases that one sharer of the last level may have at a time */
  constructor(bytes: number, maxHolders: number) {
    this.#root = shareOf(bytes)
    this.#maxHolders = maxHolders
  }

  /**
   * Opens a lease of no bytes yet.
   * @param onDisplaced called when the lease has to give way to somebody who holds less; it must then be released
   * @throws OverloadError if the sharer has too many leases already
   */
  open(keys: readonly ShareKey[], onDisplaced: () => void): MemoryLease {
    const path = [this.#root]
    let share = this.#root
    for (const { name, limit } of keys) {
      const known = share.children.get(name)
      const child = known ?? shareOf(limit)
      // Kept only once the lease is sure to be opened: see below.
      path.push(child)
      share = child
    }
    if (share.holders >= this.#maxHolders) throw new OverloadError()
    keys.forEach(({ name }, i) => {
      const [parent, child] = path.slice(i, i + 2)
      if (child !== undefined) parent?.children.set(name, child)
    })
    for (const each of path) each.holders++
    const lease: MemoryLease = new MemoryLease(path, onDisplaced, {
      makeRoom: (level, bytes) => this.#makeRoom(lease, level, bytes),
      settle: () => this.#displaceable.delete(lease),
      close: () => {
        this.#displaceable.delete(lease)
        for (const each of path) each.holders--
        // Nothing is kept of clients that hold nothing, so that strangers cannot fill the maps.
        for (let i = keys.length; i > 0; i--) {
          if (path[i]?.holders === 0) path[i - 1]?.children.delete(keys[i - 1]?.name ?? '')
        }
      },
    })
    this.#displaceable.add(lease)
    return lease
  }

  /** Displaces the largest lease of the sharer that holds the most at this level; false if none holds more than ours will. */
  #makeRoom(lease: MemoryLease, level: number, bytes: number): boolean {
    const shared = lease.path[level]
    const own = lease.path[level + 1]
    let victim: MemoryLease | undefined
    let most = (own?.bytes ?? Infinity) + bytes
    for (const other of this.#displaceable) {
      const held = other.path[level + 1]
      if (held === undefined || held === own || other.path[level] !== shared || held.bytes < most) continue
      const isMore = held.bytes > most || (victim !== undefined && other.bytes > victim.bytes)
      if (isMore) victim = other
      if (isMore) most = held.bytes
    }
    victim?.displace()
    return victim !== undefined
  }
}

const shareOf = (limit: number): Share => ({ limit, bytes: 0, holders: 0, children: new Map() })

interface Owner {
  readonly makeRoom: (level: number, bytes: number) => boolean
  readonly settle: () => void
  readonly close: () => void
}

/** Memory that one holder has taken. */
export class MemoryLease {
  /** From the whole memory to the holder's own share. */
  readonly path: readonly Share[]
  readonly #onDisplaced: () => void
  readonly #owner: Owner
  #bytes = 0
  #isOpen = true

  constructor(path: readonly Share[], onDisplaced: () => void, owner: Owner) {
    this.path = path
    this.#onDisplaced = onDisplaced
    this.#owner = owner
  }

  get bytes(): number {
    return this.#bytes
  }

  /** @throws OverloadError if there is no room that could fairly be made */
  grow(bytes: number): void {
    for (let level = this.path.length - 1; level >= 0; level--) {
      const share = this.path[level]
      while (share !== undefined && share.bytes + bytes > share.limit) {
        if (!this.#owner.makeRoom(level, bytes)) throw new OverloadError()
      }
    }
    this.#add(bytes)
  }

  /** From now on it cannot be displaced: its memory is being worked on. */
  settle(): void {
    this.#owner.settle()
  }

  /** Gives everything back. Calling it twice has no effect. */
  release(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#add(-this.#bytes)
    this.#owner.close()
  }

  displace(): void {
    this.release()
    this.#onDisplaced()
  }

  #add(bytes: number): void {
    this.#bytes += bytes
    for (const share of this.path) share.bytes += bytes
  }
}
