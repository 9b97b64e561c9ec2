import { OverloadError } from '../../lib/errors.ts'
import { FairMemory, type MemoryLease, type ShareKey } from './fair-memory.ts'
import { Admission } from './admission.ts'
import { ReadTurns } from './read-turns.ts'

const MIB = 1024 * 1024
/** Bodies up to this size have memory that larger ones cannot take. */
const SMALL_BYTES = 256 * 1024
/** Memory of bodies with a key, without one, and the part of each that small bodies have for themselves. */
const KEYED_BYTES = 240 * MIB
const KEYLESS_BYTES = 64 * MIB
const SMALL_RESERVE_BYTES = 16 * MIB
/** The largest part that one account, or one address without a key, may take. */
const CLIENT_PART = 3 / 4
/** Bodies of one client that may be under way at a time. */
const MAX_BODIES = 512

/** How fast a body has to arrive. */
export interface BodyPace {
  /** Average over each `windowMs`; 0 for no limit. */
  readonly bytesPerSecond: number
  readonly windowMs: number
}

/** Whose a body is. */
export interface BodySender {
  /** From `clientGroup`. */
  readonly address: string
  /** The account of the key in the query; undefined while no key is known. */
  readonly account: number | undefined
}

export interface BodyBudgetOptions {
  readonly pace: BodyPace
  /** The largest body of any endpoint. */
  readonly largestBody: number
  /** This process's part of the memory, up to 1. */
  readonly part: number
}

/**
 * Memory for bodies that are being received or worked on. Bodies with a key in their query are charged to the account, and
 * within it to the address, since keys may be public; others to their address, until a key is found in them.
 */
export class BodyBudget {
  readonly pace: BodyPace
  readonly turns = new ReadTurns()
  readonly #keyed: Pool
  readonly #keyless: Pool
  readonly #admission: Admission

  constructor({ pace, largestBody, part }: BodyBudgetOptions) {
    this.pace = pace
    const small = Math.max(MIB, SMALL_RESERVE_BYTES * part)
    this.#keyed = new Pool(Math.max(largestBody, KEYED_BYTES * part), small, largestBody)
    this.#keyless = new Pool(Math.max(largestBody, KEYLESS_BYTES * part), small, largestBody)
    this.#admission = new Admission(this.#keyless.clientLimit)
  }

  /**
   * Admits a body, of which nothing is charged yet. A large one without a key waits until those that its client has under
   * way leave room for all of it.
   * @param declared its `Content-Length`
   * @throws OverloadError if the client has too many bodies under way, or waits for too long
   */
  async admit(sender: BodySender, declared: number | undefined): Promise<BodyLease> {
    const isLarge = declared !== undefined && declared > SMALL_BYTES
    if (sender.account !== undefined || !isLarge) return this.#open(sender, isLarge, () => {})
    const release = await this.#admission.enter(sender.address, declared)
    try {
      return this.#open(sender, isLarge, release)
    } catch (error) {
      release()
      throw error
    }
  }

  #open(sender: BodySender, isLarge: boolean, onRelease: () => void): BodyLease {
    return new BodyLease(this.#keyed, this.#keyless, sender, isLarge, onRelease)
  }
}

/** The memory of bodies with a key, or of those without. */
class Pool {
  readonly large: FairMemory
  readonly small: FairMemory
  readonly clientLimit: number
  readonly #smallLimit: number

  constructor(bytes: number, smallBytes: number, largestBody: number) {
    this.large = new FairMemory(bytes, MAX_BODIES)
    this.small = new FairMemory(smallBytes, MAX_BODIES)
    this.clientLimit = Math.max(largestBody, bytes * CLIENT_PART)
    this.#smallLimit = smallBytes * CLIENT_PART
  }

  open(isLarge: boolean, { account, address }: BodySender, onDisplaced: () => void): MemoryLease {
    const limit = isLarge ? this.clientLimit : this.#smallLimit
    const keys: ShareKey[] = [{ name: address, limit }]
    if (account !== undefined) keys.unshift({ name: String(account), limit })
    return (isLarge ? this.large : this.small).open(keys, onDisplaced)
  }
}

/** What one body is charged. */
export class BodyLease {
  /** Called when the body has to give way to clients that hold less. */
  onDisplaced: () => void = () => {}
  readonly #keyed: Pool
  readonly #keyless: Pool
  readonly #onRelease: () => void
  #sender: BodySender
  #isLarge: boolean
  #isReceived = false
  #memory: MemoryLease

  constructor(keyed: Pool, keyless: Pool, sender: BodySender, isLarge: boolean, onRelease: () => void) {
    this.#keyed = keyed
    this.#keyless = keyless
    this.#sender = sender
    this.#isLarge = isLarge
    this.#onRelease = onRelease
    this.#memory = this.#open()
  }

  /** Whose turn it is when bodies of many clients wait to be worked on. */
  get client(): string {
    const { account, address } = this.#sender
    return account === undefined ? address : `${account} ${address}`
  }

  /** @throws OverloadError if there is no room for `bytes` more */
  grow(bytes: number): void {
    const isLarge = this.#isLarge || this.#memory.bytes + bytes > SMALL_BYTES
    if (isLarge === this.#isLarge) {
      try {
        return this.#memory.grow(bytes)
      } catch (error) {
        if (isLarge || !(error instanceof OverloadError)) throw error
      }
    }
    // It has outgrown the memory of small bodies, or that is taken.
    this.#isLarge = true
    this.#moveTo(this.#memory.bytes + bytes)
  }

  /** All of the body is here, so it cannot give way any more. */
  settle(): void {
    this.#isReceived = true
    this.#memory.settle()
  }

  /** Charges the account whose key was found in the body. */
  assignTo(account: number): void {
    if (this.#sender.account !== undefined) return
    this.#sender = { ...this.#sender, account }
    this.#moveTo(this.#memory.bytes)
    this.#onRelease()
  }

  /** Calling it twice has no effect. */
  release(): void {
    this.#memory.release()
    this.#onRelease()
  }

  #open(): MemoryLease {
    const pool = this.#sender.account === undefined ? this.#keyless : this.#keyed
    return pool.open(this.#isLarge, this.#sender, () => {
      this.#onRelease()
      this.onDisplaced()
    })
  }

  #moveTo(bytes: number): void {
    const moved = this.#open()
    try {
      moved.grow(bytes)
    } catch (error) {
      moved.release()
      throw error
    }
    if (this.#isReceived) moved.settle()
    this.#memory.release()
    this.#memory = moved
  }
}
