import { accountOf, type Client } from './client.ts'
import { OverloadError } from './errors.ts'

export interface ByteBudgetOptions {
  /** Bytes of all clients. */
  readonly bytes: number
  /** Bytes of one account, or of one address without a key. Less than `bytes` keeps some free for others. */
  readonly perClient: number
}

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
  readonly account: { bytes: number }
  readonly displaceable: Set<Hold>
}

/**
 * Limits bytes in memory. When the budget is full, a client displaces the largest hold of the one that has the most, as long as that
 * is more than its own: accounts are compared first, then the addresses that use the keys of one account. So a few clients can use
 * all of it, but cannot keep it from others.
 */
export class ByteBudget {
  readonly #options: ByteBudgetOptions
  readonly #shares = new Map<Client, Share>()
  readonly #accounts = new Map<string, { bytes: number }>()
  #bytes = 0

  constructor(options: ByteBudgetOptions) {
    this.#options = options
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
    const name = accountOf(client)
    const account = this.#accounts.get(name) ?? { bytes: 0 }
    const share = this.#shares.get(client) ?? { bytes: 0, account, displaceable: new Set() }
    const { bytes: max, perClient } = this.#options
    while (account.bytes + bytes > perClient) this.#displace(share, bytes, true)
    while (this.#bytes + bytes > max) this.#displace(share, bytes, false)
    this.#accounts.set(name, account)
    this.#shares.set(client, share)
    this.#add(share, hold, bytes)
    if (!hold.isPinned) share.displaceable.add(hold)
  }

  /** Displaces a hold for `bytes` more of `own`. @throws OverloadError if no client has more than that */
  #displace(own: Share, bytes: number, inAccount: boolean): void {
    let heaviest: readonly [Client, Share] | undefined
    for (const entry of this.#shares) {
      const [, share] = entry
      const isSameAccount = share.account === own.account
      const surplus = isSameAccount ? share.bytes - own.bytes : share.account.bytes - own.account.bytes
      if (surplus <= bytes || share.displaceable.size === 0 || (inAccount && !isSameAccount)) continue
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
    if (share.account.bytes === 0) this.#accounts.delete(accountOf(client))
  }

  #add(share: Share, hold: Hold, bytes: number): void {
    hold.bytes += bytes
    share.bytes += bytes
    share.account.bytes += bytes
    this.#bytes += bytes
  }
}

const compare = (a: Share, b: Share): number => a.account.bytes - b.account.bytes || a.bytes - b.bytes
