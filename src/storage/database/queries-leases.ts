import type { Dialect } from './dialect.ts'
import { sql, type Sql } from './sql.ts'

/**
 * A moment of the database's clock that has come. One that lies further ahead than anybody would have put it was written
 * before the clock was set back, and must not hold things up until the clock is there again.
 */
const hasCome = ({ now }: Dialect, moment: Sql, longestMs: number) =>
  sql`(${moment} <= ${now} OR ${moment} > ${now} + ${longestMs})`

export interface Lease {
  readonly name: string
  readonly holder: string
  readonly ttlMs: number
  /** From the end of one run until the next is due. */
  readonly everyMs: number
}

/** Finds a row unless the lease is held, or its work is not due. */
export const freeLease = (dialect: Dialect, { name, ttlMs, everyMs }: Omit<Lease, 'holder'>) =>
  sql<{ free: number }>`
  SELECT 1 AS free WHERE NOT EXISTS (SELECT 1 FROM leases WHERE name = ${name}
    AND NOT (${hasCome(dialect, sql`expires_at`, ttlMs)} AND ${hasCome(dialect, sql`due_at`, everyMs)}))`

/** Changes a row where the lease was free and its work due. */
export const takeLease = (dialect: Dialect, { name, holder, ttlMs, everyMs }: Lease) => sql`
  INSERT INTO leases (name, holder, expires_at, due_at) VALUES (${name}, ${holder}, ${dialect.now} + ${ttlMs}, 0)
  ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
  WHERE ${hasCome(dialect, sql`leases.expires_at`, ttlMs)} AND ${hasCome(dialect, sql`leases.due_at`, everyMs)}`

/** Changes a row while nobody else has taken the lease. */
export const renewLease = (dialect: Dialect, { name, holder, ttlMs }: Lease) => sql`
  UPDATE leases SET expires_at = ${dialect.now} + ${ttlMs} WHERE name = ${name} AND holder = ${holder}`

/** The work was done, and is due again later. */
export const finishLease = (dialect: Dialect, { name, holder, everyMs }: Lease) => sql`
  UPDATE leases SET expires_at = 0, due_at = ${dialect.now} + ${everyMs} WHERE name = ${name} AND holder = ${holder}`

/** The work was not done: whoever comes next may try. */
export const giveUpLease = ({ name, holder }: Lease) => sql`
  UPDATE leases SET expires_at = 0 WHERE name = ${name} AND holder = ${holder}`
