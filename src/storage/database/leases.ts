import { randomBytes } from 'node:crypto'
import type { Database } from './database.ts'
import * as queries from './queries-leases.ts'
import type { Lease } from './queries-leases.ts'

/** From a holder's last sign of life until another may take its place. */
const TTL_MS = 15_000
/** A holder shows life so many times within that. */
const RENEWALS = 3

/** Work that one process of all processes and nodes on a database does at a time. */
export interface LeasedWork {
  readonly name: string
  /** From the end of a run, whoever did it, until the next is due. */
  readonly everyMs: number
  /** A cheap look whether there is anything to do; without anything nothing is written. */
  readonly pending?: () => Promise<boolean>
  /**
   * The work. It stops soon after `signal` says so: the lease was lost, or the process stops. It may run twice at once for a
   * while all the same (a process that is frozen, a clock that is set), so it must be safe to repeat and to run beside itself.
   */
  readonly run: (signal: AbortSignal) => Promise<unknown>
}

/**
 * Gives each piece of work to one process at a time. A holder that ends without a word is replaced once its lease has run
 * out. All moments are of the database's own clock, so the clocks of nodes do not matter.
 */
export class Leases {
  readonly #database: Database
  readonly #ttlMs: number

  constructor(database: Database, ttlMs = TTL_MS) {
    this.#database = database
    this.#ttlMs = ttlMs
  }

  /**
   * Does the work, where it is due, there is some and nobody else is at it.
   * @returns whether it was done here, to its end
   */
  async run(work: LeasedWork, stop: AbortSignal): Promise<boolean> {
    const { name, everyMs, pending, run } = work
    const lease: Lease = { name, everyMs, ttlMs: this.#ttlMs, holder: randomBytes(12).toString('base64url') }
    const { dialect } = this.#database
    if ((await this.#database.first(queries.freeLease(dialect, lease))) === undefined) return false
    if (pending !== undefined && !(await pending())) return false
    const asked = performance.now()
    if (!(await this.#write(queries.takeLease(dialect, lease)))) return false
    const hold = new Hold(this.#ttlMs, () => this.#write(queries.renewLease(dialect, lease)))
    hold.start(asked)
    let isDone = false
    try {
      const signal = AbortSignal.any([hold.lost, stop])
      if (!signal.aborted) await run(signal)
      isDone = !signal.aborted
    } finally {
      hold.end()
      const last = isDone ? queries.finishLease(dialect, lease) : queries.giveUpLease(lease)
      // Should this fail, the lease runs out by itself.
      await this.#write(last).catch(() => {})
    }
    return isDone
  }

  async #write(query: ReturnType<typeof queries.giveUpLease>): Promise<boolean> {
    return (await this.#database.transaction((tx) => tx.run(query))) > 0
  }
}

/** A lease in hand: renewed in good time, and given up as lost when that does not succeed before it runs out. */
class Hold {
  readonly #ttlMs: number
  readonly #renew: () => Promise<boolean>
  readonly #losing = new AbortController()
  #turns: NodeJS.Timeout | undefined
  #expiry: NodeJS.Timeout | undefined

  constructor(ttlMs: number, renew: () => Promise<boolean>) {
    this.#ttlMs = ttlMs
    this.#renew = renew
  }

  get lost(): AbortSignal {
    return this.#losing.signal
  }

  /** @param asked when the database was asked for the lease, which is before it granted it */
  start(asked: number): void {
    this.#expireAfter(asked)
    // Neither timer keeps a process that has nothing else to do.
    this.#turns = setInterval(() => void this.#prolong(), this.#ttlMs / RENEWALS).unref()
  }

  end(): void {
    clearInterval(this.#turns)
    clearTimeout(this.#expiry)
    this.#turns = undefined
  }

  async #prolong(): Promise<void> {
    const asked = performance.now()
    try {
      const isRenewed = await this.#renew()
      if (this.#turns === undefined) return
      if (isRenewed) this.#expireAfter(asked)
      else this.#losing.abort()
    } catch {
      // Tried again at the next turn, for as long as the lease lasts.
    }
  }

  #expireAfter(asked: number): void {
    clearTimeout(this.#expiry)
    const left = asked + this.#ttlMs - performance.now()
    this.#expiry = setTimeout(() => this.#losing.abort(), left).unref()
  }
}
