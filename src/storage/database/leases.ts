import { randomBytes } from 'node:crypto'
import type { Database } from './database.ts'
import type { Dialect } from './dialect.ts'
import { sql, type Sql } from './sql.ts'

/** How long a lease lasts without renewal, until another process may take it. */
const TTL_MS = 15_000
/** How often a holder renews a lease within that time. */
const RENEWALS = 3

/** Work that one of all processes and nodes on a database does at a time. */
export interface LeasedWork {
  readonly name: string
  /** Time from the end of a run, on any node, until the next is due. */
  readonly everyMs: number
  /** A cheap check whether there is anything to do; if not, nothing is written. */
  readonly pending?: () => Promise<boolean>
  /**
   * The work. It has to stop soon after `signal` aborts, because the lease was lost or the process stops. Two runs may
   * still overlap (a frozen process, a clock that was changed), so it must be safe to repeat and to run concurrently.
   */
  readonly run: (signal: AbortSignal) => Promise<unknown>
}

/**
 * Gives each task to one process at a time. A holder that dies is replaced when its lease expires. All times are of the
 * database's clock, so the clocks of nodes do not matter.
 */
export class Leases {
  readonly #database: Database
  readonly #ttlMs: number

  constructor(database: Database, ttlMs = TTL_MS) {
    this.#database = database
    this.#ttlMs = ttlMs
  }

  /**
   * Runs the work if it is due, there is something to do and no other process is running it.
   * @returns whether it was completed here
   */
  async run(work: LeasedWork, stop: AbortSignal): Promise<boolean> {
    const { name, everyMs, pending, run } = work
    const lease: Lease = { name, everyMs, ttlMs: this.#ttlMs, holder: randomBytes(12).toString('base64url') }
    const { dialect } = this.#database
    if ((await this.#database.first(freeLease(dialect, lease))) === undefined) return false
    if (pending !== undefined && !(await pending())) return false
    const requestedAt = performance.now()
    if (!(await this.#write(takeLease(dialect, lease)))) return false
    const hold = holdLease(this.#ttlMs, requestedAt, () => this.#write(renewLease(dialect, lease)))
    let isDone = false
    try {
      const signal = AbortSignal.any([hold.lost, stop])
      if (!signal.aborted) await run(signal)
      isDone = !signal.aborted
    } finally {
      hold.end()
      const last = isDone ? finishLease(dialect, lease) : giveUpLease(lease)
      // If this fails, the lease expires.
      await this.#write(last).catch(() => {})
    }
    return isDone
  }

  async #write(query: ReturnType<typeof giveUpLease>): Promise<boolean> {
    return (await this.#database.transaction((tx) => tx.run(query))) > 0
  }
}

/**
 * Renews a lease that this process holds. `lost` aborts if that fails until it expires, and at the end.
 * @param requestedAt when the request for the lease was sent, which is before it was granted
 */
function holdLease(ttlMs: number, requestedAt: number, renew: () => Promise<boolean>) {
  const losing = new AbortController()
  const lose = () => losing.abort()
  let expiry: NodeJS.Timeout | undefined
  // Neither timer keeps the process alive.
  const expireAfter = (since: number) => {
    clearTimeout(expiry)
    expiry = setTimeout(lose, since + ttlMs - performance.now()).unref()
  }
  const prolong = async () => {
    const since = performance.now()
    // If it fails, the next interval retries, until the lease expires.
    const isRenewed = await renew().catch(() => undefined)
    if (losing.signal.aborted) return
    if (isRenewed === true) expireAfter(since)
    else if (isRenewed === false) lose()
  }
  expireAfter(requestedAt)
  const renewals = setInterval(() => void prolong(), ttlMs / RENEWALS).unref()
  return {
    lost: losing.signal,
    end: () => {
      clearInterval(renewals)
      clearTimeout(expiry)
      // What a run that failed has left behind must not continue without the lease.
      lose()
    },
  }
}

/**
 * Whether a time of the database's clock has passed. A time further ahead than any that is ever set was written before
 * the clock was set back, and counts as passed.
 */
const hasPassed = ({ now }: Dialect, time: Sql, longestMs: number) =>
  sql`(${time} <= ${now} OR ${time} > ${now} + ${longestMs})`

interface Lease {
  readonly name: string
  readonly holder: string
  readonly ttlMs: number
  /** From the end of one run until the next is due. */
  readonly everyMs: number
}

/** Returns a row unless the lease is held or its work is not due. */
const freeLease = (dialect: Dialect, { name, ttlMs, everyMs }: Omit<Lease, 'holder'>) =>
  sql<{ free: number }>`
  SELECT 1 AS free WHERE NOT EXISTS (SELECT 1 FROM leases WHERE name = ${name}
    AND NOT (${hasPassed(dialect, sql`expires_at`, ttlMs)} AND ${hasPassed(dialect, sql`due_at`, everyMs)}))`

/** Changes a row if the lease was free and its work due. */
const takeLease = (dialect: Dialect, { name, holder, ttlMs, everyMs }: Lease) => sql`
  INSERT INTO leases (name, holder, expires_at, due_at) VALUES (${name}, ${holder}, ${dialect.now} + ${ttlMs}, 0)
  ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
  WHERE ${hasPassed(dialect, sql`leases.expires_at`, ttlMs)} AND ${hasPassed(dialect, sql`leases.due_at`, everyMs)}`

/** Changes a row unless another process has taken the lease. */
const renewLease = (dialect: Dialect, { name, holder, ttlMs }: Lease) => sql`
  UPDATE leases SET expires_at = ${dialect.now} + ${ttlMs} WHERE name = ${name} AND holder = ${holder}`

/** Releases the lease after the work was done; it is due again later. */
const finishLease = (dialect: Dialect, { name, holder, everyMs }: Lease) => sql`
  UPDATE leases SET expires_at = 0, due_at = ${dialect.now} + ${everyMs} WHERE name = ${name} AND holder = ${holder}`

/** Releases the lease after the work was not done: another process may take it. */
const giveUpLease = ({ name, holder }: Lease) => sql`
  UPDATE leases SET expires_at = 0 WHERE name = ${name} AND holder = ${holder}`
