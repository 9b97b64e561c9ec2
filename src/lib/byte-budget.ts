import type { Client } from './client.ts'
import { OverloadError } from './errors.ts'

export interface ByteBudgetOptions {
  /** Bytes of all clients. */
  readonly bytes: number
  /** Bytes of one client. Less than `bytes` keeps some free for others. */
  readonly perClient: number
}

/** Bytes that one task of a client holds. */
export interface ByteHold {
  readonly bytes: number
  /** @throws OverloadError if the client has its share, or the budget is full and no client has more */
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

/** What one client holds. */
interface Share {
  bytes: number
  readonly displaceable: Set<Hold>
}

/**
 * Limits bytes in memory. When the budget is full, a client displaces the largest hold of the client that has the most, as long as
 * that one has more than itself. So a few clients can use all of it, but cannot keep it from others.
 */
export class ByteBudget<Name extends string = Client> {
  readonly #options: ByteBudgetOptions
  /** Of clients that hold bytes: a hold without any costs nothing. */
  readonly #shares = new Map<Name, Share>()
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
  open(client: Name, onDisplaced: () => void): ByteHold {
    const hold: Hold = { bytes: 0, isPinned: false, onDisplaced }
    return {
      get bytes() {
        return hold.bytes
      },
      grow: (bytes) => this.#grow(client, hold, bytes),
      pin: () => {
        hold.isPinned = true
        this.#shares.get(client)?.displaceable.delete(hold)
      },
      release: () => this.#release(client, hold),
    }
  }

  #grow(client: Name, hold: Hold, bytes: number): void {
    if (bytes === 0) return
    const share = this.#shares.get(client) ?? { bytes: 0, displaceable: new Set() }
    const wanted = share.bytes + bytes
    if (wanted > this.#options.perClient) throw new OverloadError()
    while (this.#bytes + bytes > this.#options.bytes) this.#displace(wanted)
    this.#bytes += bytes
    share.bytes = wanted
    hold.bytes += bytes
    if (!hold.isPinned) share.displaceable.add(hold)
    this.#shares.set(client, share)
  }

  /** @throws OverloadError if no client has more than `bytes` and a hold to lose */
  #displace(bytes: number): void {
    let heaviest: readonly [Name, Share] | undefined
    for (const entry of this.#shares) {
      const [, share] = entry
      const isHeavier = share.bytes > (heaviest?.[1].bytes ?? bytes)
      if (isHeavier && share.displaceable.size > 0) heaviest = entry
    }
    if (heaviest === undefined) throw new OverloadError()
    const [client, { displaceable }] = heaviest
    const largest = [...displaceable].reduce((a, b) => (b.bytes > a.bytes ? b : a))
    this.#release(client, largest)
    largest.onDisplaced()
  }

  #release(client: Name, hold: Hold): void {
    const share = this.#shares.get(client)
    if (share === undefined || hold.bytes === 0) return
    this.#bytes -= hold.bytes
    share.bytes -= hold.bytes
    share.displaceable.delete(hold)
    hold.bytes = 0
    if (share.bytes === 0) this.#shares.delete(client)
  }
}
