import { ByteBudget, type ByteHold } from '../../lib/byte-budget.ts'
import { isAddress, type Client } from '../../lib/client.ts'
import { isOverload } from '../../lib/errors.ts'
import type { MinTransferRate } from './transfer-watch.ts'

const MIB = 1024 * 1024
/** Bodies up to this size use memory that is reserved for them. */
const SMALL_BYTES = 256 * 1024
/** Memory for bodies with a key, for bodies without, and for small bodies of either kind. */
const KEYED_BYTES = 240 * MIB
const UNAUTHENTICATED_BYTES = 64 * MIB
const SMALL_RESERVE_BYTES = 16 * MIB
/** The largest part of one account, or of one address without a key. */
const CLIENT_FRACTION = 3 / 4

export interface BodyBudgetOptions {
  readonly minRate: MinTransferRate
  /** The largest body of any endpoint. */
  readonly largestBody: number
  /** The fraction of the memory that this process may use, up to 1. */
  readonly memoryFraction: number
}

interface Budgets {
  readonly small: ByteBudget
  readonly large: ByteBudget
}

/**
 * Memory for bodies that are being received or processed. Those with a key in the query have a budget of their own, because anyone
 * can send the others.
 */
export class BodyBudget {
  readonly minRate: MinTransferRate
  readonly #keyed: Budgets
  readonly #unauthenticated: Budgets

  constructor({ minRate, largestBody, memoryFraction }: BodyBudgetOptions) {
    this.minRate = minRate
    const budget = (bytes: number, largest: number) =>
      new ByteBudget({ bytes, perClient: Math.max(largest, bytes * CLIENT_FRACTION) })
    const budgetsOf = (bytes: number) => ({
      small: budget(Math.max(MIB, SMALL_RESERVE_BYTES * memoryFraction), SMALL_BYTES),
      large: budget(Math.max(largestBody, bytes * memoryFraction), largestBody),
    })
    this.#keyed = budgetsOf(KEYED_BYTES)
    this.#unauthenticated = budgetsOf(UNAUTHENTICATED_BYTES)
  }

  open(client: Client): BodyMemory {
    return new BodyMemory(client, (of) => (isAddress(of) ? this.#unauthenticated : this.#keyed))
  }
}

/** The memory that one body holds. */
export class BodyMemory {
  /** Called when it was given to another client. */
  onDisplaced: () => void = () => {}
  readonly #budgetsOf: (client: Client) => Budgets
  #client: Client
  #isLarge = false
  #hold: ByteHold

  constructor(client: Client, budgetsOf: (client: Client) => Budgets) {
    this.#client = client
    this.#budgetsOf = budgetsOf
    this.#hold = this.#open()
  }

  get client(): Client {
    return this.#client
  }

  /** @throws OverloadError if there is no memory for `bytes` more */
  grow(bytes: number): void {
    const total = this.#hold.bytes + bytes
    if (this.#isLarge) return this.#hold.grow(bytes)
    try {
      if (total <= SMALL_BYTES) return this.#hold.grow(bytes)
    } catch (error) {
      if (!isOverload(error)) throw error
    }
    // Too large for the reserved memory, or that is used up.
    this.#isLarge = true
    this.#move(total)
  }

  /** Marks the body as received: it is not displaced any more. */
  pin(): void {
    this.#hold.pin()
  }

  /** Charges the client whose key was found in the received body. */
  assignTo(client: Client): void {
    if (client === this.#client) return
    this.#client = client
    this.#move(this.#hold.bytes)
    this.#hold.pin()
  }

  /** Calling it again has no effect. */
  release(): void {
    this.#hold.release()
  }

  #open(): ByteHold {
    const { small, large } = this.#budgetsOf(this.#client)
    return (this.#isLarge ? large : small).open(this.#client, () => this.onDisplaced())
  }

  #move(bytes: number): void {
    const moved = this.#open()
    moved.grow(bytes)
    this.#hold.release()
    this.#hold = moved
  }
}
