import { isOneOf, type Dialect } from '../storage/database/dialect.ts'
import { sql } from '../storage/database/sql.ts'
import type { FilteredRecord } from './filters.ts'
import { notExpired } from './queries-expiry.ts'

/** A record with everything that is stored of it. */
export interface RecordRow extends Omit<FilteredRecord, 'words'> {
  readonly length: number
  readonly seen_by: string | null
  readonly note: string | null
  /** Name of the account that holds it in the queue, and until when; null if none does. */
  readonly claimed_by: string | null
  readonly claimed_until: number | null
}

/** The records with these names, in no order. */
export const recordsNamed = (dialect: Dialect, names: readonly string[], now: number) => sql<RecordRow>`
    SELECT domains.name, length, agent, status, reserved, revision, discarded_at, date_reg, date_mod, deleted_at,
      seen_at, seen_by, note, tags, accounts.name AS claimed_by, claims.until AS claimed_until
    FROM domains LEFT JOIN claims ON claims.name = domains.name AND claims.until > ${now}
    LEFT JOIN accounts ON accounts.id = claims.account_id
    WHERE ${isOneOf(dialect, sql`domains.name`, names)} AND ${notExpired(now)}`

/** Records that the account added domains now. Last in a transaction, since it blocks others of the account. */
export const noteAdd = (account: string, now: number) => sql`
  INSERT INTO feeds (account_id, added_at) SELECT id, CAST(${now} AS BIGINT) FROM accounts WHERE name = ${account}
  ON CONFLICT (account_id) DO UPDATE SET added_at = excluded.added_at`

/** Which of these names have a record. */
export const namesRecorded = (dialect: Dialect, names: readonly string[]) => sql<{ name: string }>`
  SELECT name FROM domains WHERE ${isOneOf(dialect, sql`name`, names)}`
