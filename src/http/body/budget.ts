import { ByteBudget, type ByteHold } from '../../lib/byte-budget.ts'
import type { Client } from '../../lib/client.ts'
import { isOverload } from '../../lib/errors.ts'
import { POOLS } from '../../lib/pools.ts'

const { bytes: LARGE_BYTES, reservedBytes: RESERVED_BYTES, smallBytes: SMALL_BYTES } = POOLS.bodies
/** A process that has a fraction of it gets no less. */
const MIN_RESERVED_BYTES = 1024 * 1024

/** Minimum transfer rate of a body. */
export interface MinTransferRate {
  /** Average in each window; 0 for no limit. */
  readonly bytesPerSecond: number
  readonly windowMs: number
}

export interface BodyBudgetOptions {
  readonly minRate: MinTransferRate
  /** The largest body of any endpoint. */
  readonly largestBody: number
  /** The fraction of the memory that this process may use, up to 1. */
  readonly memoryFraction: number
}

/** Memory for bodies that are being received or processed. */
export class BodyBudget {
  readonly minRate: MinTransferRate
  readonly #small: ByteBudget
  readonly #large: ByteBudget

  constructor({ minRate, largestBody, memoryFraction }: BodyBudgetOptions) {
    this.minRate = minRate
    this.#small = new ByteBudget(Math.max(MIN_RESERVED_BYTES, RESERVED_BYTES * memoryFraction))
    this.#large = new ByteBudget(Math.max(largestBody, LARGE_BYTES * memoryFraction), largestBody)
  }

  open(client: Client): BodyMemory {
    return new BodyMemory(client, this.#small, this.#large)
  }
}

/** The memory that one body holds. */
export class BodyMemory {
  /** Called when it was given to another client. */
  onDisplaced: () => void = () => {}
  readonly #small: ByteBudget
  readonly #large: ByteBudget
  #client: Client
  #hold: ByteHold | undefined
  #bytes = 0

  constructor(client: Client, small: ByteBudget, large: ByteBudget) {
    this.#client = client
    this.#small = small
    this.#large = large
  }

  get client(): Client {
    return this.#client
  }

  /** @throws OverloadError if there is no memory for `bytes` more */
  grow(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes - bytes > SMALL_BYTES) this.#hold?.grow(bytes)
    else this.#charge()
  }

  /** Marks the body as received: it is not displaced any more. */
  pin(): void {
    this.#hold?.pin()
  }

  /** Charges the client whose key was found in the received body. */
  assignTo(client: Client): void {
    if (client === this.#client) return
    this.#client = client
    this.#charge()
    this.pin()
  }

  /** Calling it again has no effect. */
  release(): void {
    this.#hold?.release()
  }

  #charge(): void {
    this.release()
    if (this.#bytes <= SMALL_BYTES) {
      // Small bodies do not displace each other: they use the memory of large ones.
      this.#hold = this.#small.open(this.#client, () => {})
      this.#hold.pin()
      try {
        return this.#hold.grow(this.#bytes)
      } catch (error) {
        if (!isOverload(error)) throw error
      }
    }
    this.#hold = this.#large.open(this.#client, () => this.onDisplaced())
    this.#hold.grow(this.#bytes)
  }
}
