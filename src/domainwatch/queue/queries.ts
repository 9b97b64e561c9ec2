import type { Dialect } from '../../storage/database/dialect.ts'
import { allOf, empty, join, limit, raw, sql } from '../../storage/database/sql.ts'
import { expiryCutoff } from '../limits.ts'
import type { Filters } from '../filters.ts'
import { BOUGHT_SORT_KEY, SORT_KEYS, type ListOrder } from '../list/order.ts'
import { COLUMNS, page, type PageRequest } from '../list/queries.ts'
import { notExpired } from '../queries-records.ts'
import { countMatching, matching } from '../queries-filters.ts'
import { newestChange } from '../../storage/database/changes/change-log.ts'
import { BEFORE_EXPIRY, type MatchCount } from './match-counts.ts'

/** Held by transactions that claim, on an engine with several writers. Any constant that no other code uses. */
const CLAIMS_LOCK = 7_216_455_015

/** Lets one transaction claim at a time, until it ends; undefined if the engine does so anyway. */
export const claimsLock = (dialect: Dialect) => dialect.exclusively(CLAIMS_LOCK)

/** Which records are claimed, and in which order. */
export interface QueueView {
  readonly filters: Filters
  readonly order: ListOrder
  readonly ascending: boolean
}

/** As the stages of a list: in the order by deletion, bought records follow in both directions. */
function orderBy({ order, ascending }: QueueView) {
  const isByDeletion = order === 'deleted'
  const key = isByDeletion ? `COALESCE(${SORT_KEYS.deleted}, ${BOUGHT_SORT_KEY})` : SORT_KEYS[order]
  const keys = [...new Set([key, 'name'])].map((each) => `${each} ${ascending ? 'ASC' : 'DESC'}`)
  return raw(`ORDER BY ${[...(isByDeletion ? ['status'] : []), ...keys].join(', ')}`)
}

export interface QueueStateRequest {
  readonly filters: Filters
  readonly now: number
  /** Accounts whose claims are counted. */
  readonly accounts: readonly number[]
  /** Changes after this id are returned, up to a maximum. */
  readonly after: number
  readonly maxChanges: number
}

export interface QueueStateRow {
  /** Matching records that are claimed: name, account, name, account, … separated by spaces. */
  readonly held: string | null
  /** Claims of each account, whether they match or not: account, count, account, count, … */
  readonly totals: string | null
  /** Matching records that have expired but are not deleted yet. */
  readonly expired: number
  /** Changes up to this one may have been removed. */
  readonly floor: number
  /** Changes read, of all topics. */
  readonly read: number
  /** Those of domains, as elements of a JSON array: id, name, record before and after, as the change log stores them. */
  readonly changes: string | null
}

/**
 * All that a claim depends on, in one statement because each statement of PostgreSQL reads another snapshot. Its
 * subqueries return a value, so that no planner turns them into joins, which go through all records.
 */
export function queueState(
  dialect: Dialect,
  { filters, now, accounts, after, maxChanges }: QueueStateRequest,
) {
  const wanted = matching(dialect, filters)
  return sql<QueueStateRow>`
    SELECT (
      SELECT string_agg(claims.name || ' ' || CAST(account_id AS TEXT), ' ') FROM claims
      WHERE until > ${now} AND (
        SELECT 1 FROM domains WHERE ${allOf([sql`domains.name = claims.name`, notExpired(now), ...wanted])}
      ) = 1
    ) AS held, (
      SELECT string_agg(CAST(account_id AS TEXT) || ' ' || CAST(total AS TEXT), ' ') FROM (
        SELECT account_id, count(*) AS total FROM claims
        WHERE account_id IN (${join(accounts)}) AND until > ${now} GROUP BY account_id
      ) AS totals
    ) AS totals, (
      SELECT count(*) FROM domains AS expired WHERE discarded_at <= ${expiryCutoff(now)} AND (
        SELECT 1 FROM domains WHERE ${allOf([sql`domains.name = expired.name`, ...wanted])}
      ) = 1
    ) AS expired, (SELECT floor FROM change_log) AS floor, log.* FROM (
      SELECT count(*) AS read, string_agg(CASE WHEN topic = 'domain' THEN
        '[' || CAST(id AS TEXT) || ',' || ${dialect.quoted(sql`key`)} || ',' ||
        COALESCE(before, 'null') || ',' || COALESCE(after, 'null') || ']' END, ',') AS changes
      FROM (
        SELECT id, topic, key, before, after FROM changes WHERE id > ${after} ORDER BY id ${limit(maxChanges)}
      ) AS latest
    ) AS log`
}

/** The number of matching records, those that have expired included, and the last change that it takes into account. */
export const matchesNow = (dialect: Dialect, filters: Filters) => sql<MatchCount>`
  SELECT counted.count AS matches, (${newestChange()}) AS "changeId"
  FROM (${countMatching(dialect, filters, BEFORE_EXPIRY)}) AS counted`

/** Claims of all accounts. */
export const claimCount = (now: number) => sql<{ count: number }>`
  SELECT count(*) AS count FROM claims WHERE until > ${now}`

/** Those of these records that match now, in order: `COLUMNS`, and the account that holds it or null. */
export function matchingRows(dialect: Dialect, names: readonly string[], view: QueueView, now: number) {
  const conditions = [sql`name = found`, notExpired(now), ...matching(dialect, view.filters)]
  return sql`
    SELECT ${raw(COLUMNS)},
      (SELECT account_id FROM claims WHERE claims.name = domains.name AND until > ${now}) AS holder
    FROM (${namesIn(dialect, names)}) AS given CROSS JOIN domains
    WHERE ${allOf(conditions)} ${orderBy(view)}`
}

/**
 * Names of the first unclaimed records of a page.
 * @param request with a limit that leaves room for all matching records that are held
 */
export const freeNames = (dialect: Dialect, request: PageRequest) => sql<{ name: string }>`
  SELECT name FROM (${page(dialect, request)}) AS page
  WHERE NOT EXISTS (SELECT 1 FROM claims WHERE claims.name = page.name AND until > ${request.now})`

/** The column of `matchingRows` that follows `COLUMNS`. */
export const HOLDER = COLUMNS.split(',').length

/**
 * Claims records that no other account holds, and extends claims. Returns the names.
 * @param claims names, in ascending order so that concurrent writers lock them in the same order, with their
 *   accounts
 */
export function storeClaims(
  dialect: Dialect,
  claims: readonly (readonly [name: string, account: number])[],
  { now, until }: { readonly now: number; readonly until: number },
) {
  const given = dialect.jsonRows(JSON.stringify(claims), ['text', 'integer'])
  // Without a condition SQLite would parse ON as the beginning of a join condition.
  return sql<{ name: string }>`
    INSERT INTO claims (name, account_id, until)
    SELECT ${given.columns}, CAST(${until} AS BIGINT) FROM ${given.table} WHERE 1 = 1
    ON CONFLICT (name) DO UPDATE SET account_id = excluded.account_id, until = excluded.until
    WHERE claims.until <= ${now} OR claims.account_id = excluded.account_id
    RETURNING name`
}

/** Ends claims of an account: all, or those of these records. Locks them in the order of `storeClaims`. */
export function endClaims(dialect: Dialect, account: number, now: number, names?: readonly string[]) {
  const among = names === undefined ? empty : sql`AND name IN (${namesIn(dialect, names)})`
  return sql`
    DELETE FROM claims WHERE name IN (
      SELECT name FROM claims WHERE account_id = ${account} AND until > ${now} ${among}
      ORDER BY name ${dialect.forUpdate}
    )`
}

function namesIn(dialect: Dialect, names: readonly string[]) {
  const given = dialect.jsonRows(JSON.stringify(names.map((name) => [name])), ['text'])
  return sql`SELECT ${given.columns} AS found FROM ${given.table}`
}

export const anyEndedClaim = (now: number) => sql<{ name: string }>`
  SELECT name FROM claims WHERE until <= ${now} LIMIT 1`

/** Deletes at most `count` claims that have ended. */
export const deleteEndedClaims = (dialect: Dialect, now: number, count: number) => sql`
  DELETE FROM claims WHERE name IN (
    SELECT name FROM claims WHERE until <= ${now} ORDER BY name ${limit(count)} ${dialect.forUpdate}
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
