import { getGroup, type Client } from './client.ts'
import { OverloadError } from './errors.ts'

/** The largest part of one account, or of all addresses without a key, and of that the largest part of one address. */
const MAX_SHARE = 3 / 4

/** Bytes that one task of a client holds. */
export interface ByteHold {
  readonly bytes: number
  /** @throws OverloadError if there is no room, and no client that has more */
  grow(bytes: number): void
  /** Keeps the bytes from being displaced, because they are being processed. */
  pin(): void
  /** Returns all bytes. Calling it again has no effect. */
  release(): void
}

interface Hold {
  bytes: number
  isPinned: boolean
  readonly onDisplaced: () => void
}

/** What a client holds that has any bytes. */
interface Share {
  bytes: number
  readonly group: { bytes: number }
  readonly displaceable: Set<Hold>
}

/**
 * Limits bytes in memory. When the budget is full, a client displaces the largest hold of the one that has the most, as long as that
 * is more than its own. Accounts are compared first, of which all addresses without a key together are one, then the addresses of
 * an account. So a few clients can use most of the memory, but cannot keep it from others.
 */
export class ByteBudget {
  readonly #max: number
  readonly #perGroup: number
  readonly #perClient: number
  readonly #shares = new Map<Client, Share>()
  readonly #groups = new Map<string, { bytes: number }>()
  #bytes = 0

  /** @param largest the most that one hold may need: its client may have as much in any case */
  constructor(bytes: number, largest = 0) {
    this.#max = bytes
    this.#perGroup = Math.max(largest, bytes * MAX_SHARE)
    this.#perClient = Math.max(largest, bytes * MAX_SHARE * MAX_SHARE)
  }

  get perClient(): number {
    return this.#perClient
  }

  get bytes(): number {
    return this.#bytes
  }

  /**
   * Opens a hold of zero bytes.
   * @param onDisplaced called after its bytes were given to another client
   */
  open(client: Client, onDisplaced: () => void): ByteHold {
    const hold: Hold = { bytes: 0, isPinned: false, onDisplaced }
    return {
      get bytes() {
        return hold.bytes
      },
      grow: (bytes) => {
        if (bytes > 0) this.#grow(client, hold, bytes)
      },
      pin: () => {
        hold.isPinned = true
        this.#shares.get(client)?.displaceable.delete(hold)
      },
      release: () => this.#release(client, hold),
    }
  }

  #grow(client: Client, hold: Hold, bytes: number): void {
    const name = getGroup(client)
    const group = this.#groups.get(name) ?? { bytes: 0 }
    const share = this.#shares.get(client) ?? { bytes: 0, group, displaceable: new Set() }
    if (share.bytes + bytes > this.#perClient) throw new OverloadError()
    while (group.bytes + bytes > this.#perGroup) this.#displace(share, bytes, true)
    while (this.#bytes + bytes > this.#max) this.#displace(share, bytes, false)
    this.#groups.set(name, group)
    this.#shares.set(client, share)
    this.#add(share, hold, bytes)
    if (!hold.isPinned) share.displaceable.add(hold)
  }

  /** Displaces a hold for `bytes` more of `own`. @throws OverloadError if no client has more than that */
  #displace(own: Share, bytes: number, inGroup: boolean): void {
    let heaviest: readonly [Client, Share] | undefined
    for (const entry of this.#shares) {
      const [, share] = entry
      const isSameGroup = share.group === own.group
      const surplus = isSameGroup ? share.bytes - own.bytes : share.group.bytes - own.group.bytes
      if (surplus <= bytes || share.displaceable.size === 0 || (inGroup && !isSameGroup)) continue
      if (heaviest === undefined || compare(share, heaviest[1]) > 0) heaviest = entry
    }
    if (heaviest === undefined) throw new OverloadError()
    const [client, { displaceable }] = heaviest
    const largest = [...displaceable].reduce((a, b) => (b.bytes > a.bytes ? b : a))
    this.#release(client, largest)
    largest.onDisplaced()
  }

  #release(client: Client, hold: Hold): void {
    const share = this.#shares.get(client)
    if (share === undefined || hold.bytes === 0) return
    this.#add(share, hold, -hold.bytes)
    share.displaceable.delete(hold)
    if (share.bytes === 0) this.#shares.delete(client)
    if (share.group.bytes === 0) this.#groups.delete(getGroup(client))
  }

  #add(share: Share, hold: Hold, bytes: number): void {
    hold.bytes += bytes
    share.bytes += bytes
    share.group.bytes += bytes
    this.#bytes += bytes
  }
}

const compare = (a: Share, b: Share): number => a.group.bytes - b.group.bytes || a.bytes - b.bytes
