import type { Client } from '../../lib/client.ts'
import { withTimeout } from '../../lib/concurrency.ts'
import { OverloadError } from '../../lib/errors.ts'
import { FairMemory, type MemoryLease, type ShareKey } from './fair-memory.ts'
import { ReadTurns, type MinTransferRate } from './flow-control.ts'

const MIB = 1024 * 1024
/** Bodies up to this size use memory that is reserved for them. */
const SMALL_BYTES = 256 * 1024
/** Memory for bodies with a key, for bodies without, and for small bodies of either kind. */
const KEYED_BYTES = 240 * MIB
const KEYLESS_BYTES = 64 * MIB
const SMALL_RESERVE_BYTES = 16 * MIB
/** The largest share of one account, or of one address without a key. */
const CLIENT_SHARE = 3 / 4
/** Concurrent bodies per client. */
const MAX_BODIES = 512

/** Bodies per client that wait for admission, and how long. */
const MAX_WAITING_BODIES = 64
const ADMISSION_TIMEOUT_MS = 10_000

/** The client that sends a body. */
export interface BodySender {
  /** From `clientGroup`. */
  readonly address: string
  /** The account of the key in the query; undefined while no key is known. */
  readonly account: number | undefined
}

/** In whose turn a body is read and parsed. */
export const turnOf = ({ account, address }: BodySender): Client =>
  account === undefined ? `address ${address}` : `account ${account} at ${address}`

export interface BodyBudgetOptions {
  readonly pace: MinTransferRate
  /** The largest body of any endpoint. */
  readonly largestBody: number
  /** The share of the memory that this process may use, up to 1. */
  readonly part: number
}

/**
 * Memory for bodies that are being received or processed. Bodies with a key in the query are charged to the account, and within it
 * to the address, because keys may be public; others are charged to their address, until a key is found in them.
 */
export class BodyBudget {
  readonly pace: MinTransferRate
  readonly turns = new ReadTurns()
  readonly #keyed: Pool
  readonly #keyless: Pool
  readonly #admission: AdmissionQueue

  constructor({ pace, largestBody, part }: BodyBudgetOptions) {
    this.pace = pace
    const small = Math.max(MIB, SMALL_RESERVE_BYTES * part)
    this.#keyed = new Pool(Math.max(largestBody, KEYED_BYTES * part), small, largestBody)
    this.#keyless = new Pool(Math.max(largestBody, KEYLESS_BYTES * part), small, largestBody)
    this.#admission = new AdmissionQueue(this.#keyless.clientLimit)
  }

  /**
   * Admits a body. Nothing is charged yet. A large body without a key waits until the memory for its
   * declared size is left by the other bodies of its client.
   * @param declared `Content-Length`
   * @throws OverloadError if the client has too many bodies, or the wait takes too long
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

/** The memory of bodies with a key, or of bodies without one. */
class Pool {
  readonly large: FairMemory
  readonly small: FairMemory
  readonly clientLimit: number
  readonly #smallLimit: number

  constructor(bytes: number, smallBytes: number, largestBody: number) {
    this.large = new FairMemory(bytes, MAX_BODIES)
    this.small = new FairMemory(smallBytes, MAX_BODIES)
    this.clientLimit = Math.max(largestBody, bytes * CLIENT_SHARE)
    this.#smallLimit = smallBytes * CLIENT_SHARE
  }

  open(isLarge: boolean, { account, address }: BodySender, onEvicted: () => void): MemoryLease {
    const limit = isLarge ? this.clientLimit : this.#smallLimit
    const keys: ShareKey[] = [{ name: address, limit }]
    if (account !== undefined) keys.unshift({ name: String(account), limit })
    return (isLarge ? this.large : this.small).open(keys, onEvicted)
  }
}

/** The memory charged for one body. */
export class BodyLease {
  /** Called when the body was evicted in favour of a client that holds less. */
  onEvicted: () => void = () => {}
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

  /** From `turnOf`. */
  get client(): Client {
    return turnOf(this.#sender)
  }

  /** @throws OverloadError if there is no memory for `bytes` more */
  grow(bytes: number): void {
    const isLarge = this.#isLarge || this.#memory.bytes + bytes > SMALL_BYTES
    if (isLarge === this.#isLarge) {
      try {
        return this.#memory.grow(bytes)
      } catch (error) {
        if (isLarge || !(error instanceof OverloadError)) throw error
      }
    }
    // Too large for the reserved memory, or that is used up.
    this.#isLarge = true
    this.#moveToPool(this.#memory.bytes + bytes)
  }

  /** Marks the body as received completely: it cannot be evicted any more. */
  pin(): void {
    this.#isReceived = true
    this.#memory.pin()
  }

  /** Charges the account whose key was found in the body. */
  assignTo(account: number): void {
    if (this.#sender.account !== undefined) return
    this.#sender = { ...this.#sender, account }
    this.#moveToPool(this.#memory.bytes)
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
      this.onEvicted()
    })
  }

  #moveToPool(bytes: number): void {
    const moved = this.#open()
    try {
      moved.grow(bytes)
    } catch (error) {
      moved.release()
      throw error
    }
    if (this.#isReceived) moved.pin()
    this.#memory.release()
    this.#memory = moved
  }
}

interface Sender {
  bytes: number
  /** Bodies that wait, oldest first. */
  readonly waiting: { readonly bytes: number; readonly start: () => void }[]
}

/**
 * Limits the declared size of each client's concurrent bodies. A body over the limit waits before any of it is read, so that bodies
 * do not fail halfway.
 */
class AdmissionQueue {
  readonly #limit: number
  readonly #clients = new Map<string, Sender>()

  /** @param limit bytes per client; no body may declare more */
  constructor(limit: number) {
    this.#limit = limit
  }

  /**
   * Waits for admission. Returns a function that ends it; calling it twice has no effect.
   * @throws OverloadError if too many bodies wait, or this one waits for too long
   */
  async enter(name: string, bytes: number): Promise<() => void> {
    const client = this.#clients.get(name) ?? { bytes: 0, waiting: [] }
    this.#clients.set(name, client)
    if (client.waiting.length >= MAX_WAITING_BODIES) throw new OverloadError()
    const { promise: started, resolve: start } = Promise.withResolvers<void>()
    const body = { bytes, start }
    client.waiting.push(body)
    this.#startNext(name, client)
    await withTimeout(started, ADMISSION_TIMEOUT_MS)
    const place = client.waiting.indexOf(body)
    if (place !== -1) {
      client.waiting.splice(place, 1)
      this.#startNext(name, client)
      throw new OverloadError()
    }
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      client.bytes -= bytes
      this.#startNext(name, client)
    }
  }

  #startNext(name: string, client: Sender): void {
    for (let [next] = client.waiting; next !== undefined; [next] = client.waiting) {
      if (client.bytes + next.bytes > this.#limit) break
      client.waiting.shift()
      client.bytes += next.bytes
      next.start()
    }
    if (client.bytes === 0 && client.waiting.length === 0) this.#clients.delete(name)
  }
}
