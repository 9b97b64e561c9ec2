import { isOneOf, type Dialect } from '../storage/database/dialect.ts'
import { limit, raw, sql, type Sql } from '../storage/database/sql.ts'
import { expiryCutoff } from './limits.ts'

/** Later than any possible date: means "never" in comparisons. */
const NEVER = 8_640_000_000_000_000

/** The record has not expired. */
export const notExpired = (now: number): Sql =>
  sql`COALESCE(discarded_at, ${raw(String(NEVER))}) > ${expiryCutoff(now)}`

const expired = (now: number): Sql => sql`discarded_at <= ${expiryCutoff(now)}`

/** When the first of the discarded records was discarded; null if there is none. */
export const firstDiscarded = (now: number) => sql<{ marked_at: number | null }>`
  SELECT min(discarded_at) AS marked_at FROM domains WHERE discarded_at > ${expiryCutoff(now)}`

/** Deletes at most `count` records that have expired. */
export const deleteExpired = (now: number, count: number) => sql`
  DELETE FROM domains WHERE name IN (
    SELECT name FROM domains WHERE ${expired(now)} ORDER BY discarded_at ${limit(count)}
  )`

export const anyExpired = (now: number) => sql<{ name: string }>`
  SELECT name FROM domains WHERE ${expired(now)} LIMIT 1`

/** Deletes the expired records whose names are first in these rows: a JSON array of arrays. */
export const deleteExpiredOf = (dialect: Dialect, now: number, rows: string) =>
  sql`DELETE FROM domains WHERE ${expired(now)} AND ${isOneOf(dialect, sql`name`, rows)}`
