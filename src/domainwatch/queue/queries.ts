import { isOneOf, type Dialect } from '../../storage/database/dialect.ts'
import { empty, limit, sql } from '../../storage/database/sql.ts'

/** Held by transactions that claim, on an engine with several writers. Any constant that no other code uses. */
const CLAIMS_LOCK = 7_216_455_015

/** Lets one transaction claim at a time, until it ends; undefined if the engine does so anyway. */
export const claimsLock = (dialect: Dialect) => dialect.exclusively(CLAIMS_LOCK)

/** All records that accounts hold now. */
export const heldRecords = (now: number) => sql<{ name: string; account_id: number }>`
  SELECT name, account_id FROM claims WHERE until > ${now}`

/**
 * Claims records that no other account holds, and extends claims. Returns the names.
 * @param names in ascending order, so that concurrent writers lock them in the same order
 */
export function storeClaims(
  dialect: Dialect,
  account: number,
  names: readonly string[],
  { now, until }: { readonly now: number; readonly until: number },
) {
  const given = dialect.jsonRows(JSON.stringify(names.map((name) => [name])), ['text'])
  // Without a condition SQLite would parse ON as the beginning of a join condition.
  return sql<{ name: string }>`
    INSERT INTO claims (name, account_id, until)
    SELECT ${given.columns}, CAST(${account} AS BIGINT), CAST(${until} AS BIGINT) FROM ${given.table} WHERE 1 = 1
    ON CONFLICT (name) DO UPDATE SET account_id = excluded.account_id, until = excluded.until
    WHERE claims.until <= ${now} OR claims.account_id = excluded.account_id
    RETURNING name`
}

/** Ends claims of an account: all, or those of these records. Locks them in the order of `storeClaims`. */
export function endClaims(dialect: Dialect, account: number, now: number, names?: readonly string[]) {
  const among = names === undefined ? empty : sql`AND ${isOneOf(dialect, sql`name`, names)}`
  return sql`
    DELETE FROM claims WHERE name IN (
      SELECT name FROM claims WHERE account_id = ${account} AND until > ${now} ${among}
      ORDER BY name ${dialect.forUpdate}
    )`
}

/** Deletes claims whose time is over, which have no effect any more. */
export const deleteEndedClaims = (dialect: Dialect, now: number) => sql`
  DELETE FROM claims WHERE name IN (
    SELECT name FROM claims WHERE until <= ${now} ORDER BY name ${dialect.forUpdate}
  )`

export interface Holder {
  readonly account: string
  readonly count: number
  /** When the last of its claims ends. */
  readonly until: number
}

/** The accounts that hold records now, those that hold the most first. */
export const holders = (now: number, max: number) => sql<Holder>`
  SELECT accounts.name AS account, held.count, held.until FROM (
    SELECT account_id, count(*) AS count, max(until) AS until FROM claims WHERE until > ${now}
    GROUP BY account_id ORDER BY count DESC, account_id ${limit(max)}
  ) AS held JOIN accounts ON accounts.id = held.account_id
  ORDER BY held.count DESC, held.account_id`

/** Names of the records that an account holds. */
export const heldBy = (account: number, now: number) => sql<{ name: string }>`
  SELECT name FROM claims WHERE account_id = ${account} AND until > ${now}`
