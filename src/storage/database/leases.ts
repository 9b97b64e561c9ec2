import { randomBytes } from 'node:crypto'
import type { Database } from './database.ts'
import type { Dialect } from './dialect.ts'
import { sql, type Sql } from './sql.ts'

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
    if ((await this.#database.first(freeLease(dialect, lease))) === undefined) return false
    if (pending !== undefined && !(await pending())) return false
    const asked = performance.now()
    if (!(await this.#write(takeLease(dialect, lease)))) return false
    const hold = new Hold(this.#ttlMs, () => this.#write(renewLease(dialect, lease)))
    hold.start(asked)
    let isDone = false
    try {
      const signal = AbortSignal.any([hold.lost, stop])
      if (!signal.aborted) await run(signal)
      isDone = !signal.aborted
    } finally {
      hold.end()
      const last = isDone ? finishLease(dialect, lease) : giveUpLease(lease)
      // Should this fail, the lease runs out by itself.
      await this.#write(last).catch(() => {})
    }
    return isDone
  }

  async #write(query: ReturnType<typeof giveUpLease>): Promise<boolean> {
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

/**
 * A moment of the database's clock that has come. One that lies further ahead than anybody would have put it was written
 * before the clock was set back, and must not hold things up until the clock is there again.
 */
const hasCome = ({ now }: Dialect, moment: Sql, longestMs: number) =>
  sql`(${moment} <= ${now} OR ${moment} > ${now} + ${longestMs})`

interface Lease {
  readonly name: string
  readonly holder: string
  readonly ttlMs: number
  /** From the end of one run until the next is due. */
  readonly everyMs: number
}

/** Finds a row unless the lease is held, or its work is not due. */
const freeLease = (dialect: Dialect, { name, ttlMs, everyMs }: Omit<Lease, 'holder'>) =>
  sql<{ free: number }>`
  SELECT 1 AS free WHERE NOT EXISTS (SELECT 1 FROM leases WHERE name = ${name}
    AND NOT (${hasCome(dialect, sql`expires_at`, ttlMs)} AND ${hasCome(dialect, sql`due_at`, everyMs)}))`

/** Changes a row where the lease was free and its work due. */
const takeLease = (dialect: Dialect, { name, holder, ttlMs, everyMs }: Lease) => sql`
  INSERT INTO leases (name, holder, expires_at, due_at) VALUES (${name}, ${holder}, ${dialect.now} + ${ttlMs}, 0)
  ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
  WHERE ${hasCome(dialect, sql`leases.expires_at`, ttlMs)} AND ${hasCome(dialect, sql`leases.due_at`, everyMs)}`

/** Changes a row while nobody else has taken the lease. */
const renewLease = (dialect: Dialect, { name, holder, ttlMs }: Lease) => sql`
  UPDATE leases SET expires_at = ${dialect.now} + ${ttlMs} WHERE name = ${name} AND holder = ${holder}`

/** The work was done, and is due again later. */
const finishLease = (dialect: Dialect, { name, holder, everyMs }: Lease) => sql`
  UPDATE leases SET expires_at = 0, due_at = ${dialect.now} + ${everyMs} WHERE name = ${name} AND holder = ${holder}`

/** The work was not done: whoever comes next may try. */
const giveUpLease = ({ name, holder }: Lease) => sql`
  UPDATE leases SET expires_at = 0 WHERE name = ${name} AND holder = ${holder}`
