/** What is stored of records, the claims on them, and the decisions of the group. */
import { isOneOf, type Dialect } from '../storage/database/dialect.ts'
import { sql, limit, raw, type Sql, empty } from '../storage/database/sql.ts'
import type { StoredRecord } from './filtered-record.ts'
import { expiryCutoff } from './limits.ts'
import type { ValueType } from '../storage/database/batch.ts'
import { DOMAIN_FIELDS } from '../storage/database/changes/change.ts'

/** Later than any possible date: means "never" in comparisons. */
const NEVER = 8_640_000_000_000_000

const notExpired = (now: number): Sql =>
  sql`COALESCE(discarded_at, ${raw(String(NEVER))}) > ${expiryCutoff(now)}`

const expired = (now: number): Sql => sql`discarded_at <= ${expiryCutoff(now)}`

/** Deletes at most `count` records that have expired. */
export const deleteExpired = (now: number, count: number) => sql`
  DELETE FROM domains WHERE name IN (
    SELECT name FROM domains WHERE ${expired(now)} ORDER BY discarded_at ${limit(count)}
  )`

export const anyExpired = (now: number) => sql<{ name: string }>`
  SELECT name FROM domains WHERE ${expired(now)} LIMIT 1`

/** Deletes the expired records whose names are first in these rows: a JSON array of arrays. */
export const findDeleteExpired = (dialect: Dialect, now: number, rows: string) =>
  sql`DELETE FROM domains WHERE ${expired(now)} AND ${isOneOf(dialect, sql`name`, rows)}`

/** A record with everything that is stored of it. */
export interface RecordRow extends StoredRecord {
  readonly length: number
  readonly seen_by: string | null
  readonly note: string | null
  readonly date_reg_known: 0 | 1
  readonly deleted_after: string | null
  /** Who discarded an earlier record of the name, and when. */
  readonly dismissed_by: string | null
  readonly dismissed_at: number | null
  /** Name of the account that holds it in the queue, and until when; null if none does. */
  readonly claimed_by: string | null
  readonly claimed_until: number | null
}

/** The records with these names, in no order. */
export const recordsNamed = (dialect: Dialect, names: readonly string[], now: number) => sql<RecordRow>`
    SELECT domains.name, length, agent, status, reserved, revision, discarded_at, date_reg, date_mod, deleted_at,
      status_at, seen_at, seen_by, note, tags, date_reg_known, deleted_after, past_drops, numbers, dismissed_by, dismissed_at, accounts.name AS claimed_by, claims.until AS claimed_until
    FROM domains LEFT JOIN claims ON claims.name = domains.name AND claims.until > ${now}
    LEFT JOIN accounts ON accounts.id = claims.account_id
    WHERE ${isOneOf(dialect, sql`domains.name`, names)} AND ${notExpired(now)}`

/** The next `count` records after a name, in the order of names, expired ones included. */
export const recordsAfter = (after: string, count: number) => sql<
  Omit<StoredRecord, 'date_reg_known' | 'past_drops' | 'seen_at' | 'tags' | 'numbers'>
>`
  SELECT name, agent, status, reserved, revision, discarded_at, date_reg, date_mod, deleted_at, status_at
  FROM domains WHERE name > ${after} ORDER BY name ${limit(count)}`

/** Records that the account added domains now. Last in a transaction, since it blocks others of the account. */
export const noteAdd = (account: string, now: number) => sql`
  INSERT INTO last_adds (account_id, added_at) SELECT id, CAST(${now} AS BIGINT) FROM accounts WHERE name = ${account}
  ON CONFLICT (account_id) DO UPDATE SET added_at = excluded.added_at`

export const namesRecorded = (dialect: Dialect, names: readonly string[]) => sql<{ name: string }>`
  SELECT name FROM domains WHERE ${isOneOf(dialect, sql`name`, names)}`

/** The fields that `expect` of `update` may name: all are 0 or 1, but `date_mod`. */
export const EXPECTABLE_FIELDS = ['status', 'reserved', 'revision', 'discarded', 'seen', 'date_mod'] as const

export type ExpectableField = (typeof EXPECTABLE_FIELDS)[number]

/** The values that a stored record must still have. */
export type Expected = Readonly<Partial<Record<ExpectableField, string | number>>>

const typeOf = (field: ExpectableField): ValueType => (field === 'date_mod' ? 'text' : 'integer')

/** Types of the values of `expectedRow`. */
const EXPECTED_TYPES: readonly ValueType[] = ['integer', 'text', ...EXPECTABLE_FIELDS.map(typeOf)]

/** The position of a record in its batch and its name, then the values, null for those that may be any. */
export function expectedRow(index: number, name: string, expected: Expected): (string | number | null)[] {
  return [index, name, ...EXPECTABLE_FIELDS.map((field) => expected[field] ?? null)]
}

/** What a record has now. */
const PRESENT: Readonly<Record<ExpectableField, Sql>> = {
  status: raw('domains.status'),
  reserved: raw('domains.reserved'),
  revision: raw('domains.revision'),
  discarded: raw('CASE WHEN domains.discarded_at IS NULL THEN 0 ELSE 1 END'),
  seen: raw('CASE WHEN domains.seen_at IS NULL THEN 0 ELSE 1 END'),
  date_mod: raw('domains.date_mod'),
}

/** Locks the records whose names are first in these rows, in the order in which an update of them locks. */
export const lockRecords = (dialect: Dialect, rows: string) => sql<{ count: number }>`
  SELECT count(*) AS count FROM (
    SELECT name FROM domains WHERE ${isOneOf(dialect, sql`name`, rows)} ORDER BY name ${dialect.forUpdate}
  ) AS locked`

export type Difference = {
  readonly place: number
  readonly found: string
} & Readonly<Record<ExpectableField, 0 | 1>>

/**
 * Selects records that differ from what is expected of them, in the order of the batch: 1 for each field that does.
 * @param expected a JSON array of rows of `expectedRow`
 */
export function differences(dialect: Dialect, expected: string, count: number) {
  const given = dialect.jsonRows(expected, EXPECTED_TYPES)
  const columns = raw(EXPECTABLE_FIELDS.map((field) => `wanted_${field}`).join(', '))
  const differing = (field: ExpectableField) => sql`${raw(`wanted_${field}`)} <> ${PRESENT[field]}`
  const [first, ...others] = EXPECTABLE_FIELDS
  const any = others.reduce((all, field) => sql`${all} OR ${differing(field)}`, differing(first))
  const flag = (field: ExpectableField) =>
    sql`CASE WHEN ${differing(field)} THEN 1 ELSE 0 END AS ${raw(field)}`
  const flags = others.reduce((all, field) => sql`${all}, ${flag(field)}`, flag(first))
  return sql<Difference>`
    WITH given (place, found, ${columns}) AS (SELECT ${given.columns} FROM ${given.table})
    SELECT place, found, ${flags} FROM given CROSS JOIN domains
    WHERE name = found AND (${any}) ORDER BY place ${limit(count)}`
}

/** The fields of a record as changes hold them, without the note: it may be long, and nothing in memory needs it. */
const STATE = DOMAIN_FIELDS.map((field) => raw(field === 'note' ? 'NULL' : field))

/**
 * Records after a name as one text, which costs a tenth of rows: elements of a JSON array, `[name, state]`, in no order.
 */
export const recordsAsText = (dialect: Dialect, after: string, count: number) => sql<{
  last: string | null
  count: number
  text: string | null
}>`
  SELECT max(name) AS last, count(*) AS count,
    string_agg('[' || ${dialect.quoted(sql`name`)} || ',' || ${dialect.jsonArray(STATE)} || ']', ',') AS text
  FROM (SELECT * FROM domains WHERE name > ${after} ORDER BY name ${limit(count)}) AS page`

/** All domainwatch accounts, and when each last added records: milliseconds since 1970. */
export const lastAdds = () => sql<{ account: string; added_at: number | null }>`
  SELECT accounts.name AS account, last_adds.added_at
  FROM accounts LEFT JOIN last_adds ON last_adds.account_id = accounts.id
  WHERE accounts.service = 'domainwatch' ORDER BY accounts.name`

/** Held by transactions that claim, on an engine with several writers. Any constant that no other code uses. */
const CLAIMS_LOCK = 7_216_455_015

/** Lets one transaction claim at a time, until it ends; undefined if the engine does so anyway. */
export const claimsLock = (dialect: Dialect) => dialect.exclusively(CLAIMS_LOCK)

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

export interface DecisionRow {
  readonly name: string
  readonly wanted: 0 | 1
  /** Each with a space before and after it; null if there is none. */
  readonly tags: string | null
  readonly decided_at: number
}

/** The last decisions of one kind. */
export const lastDecisions = (wanted: 0 | 1, count: number) => sql<DecisionRow>`
  SELECT name, wanted, tags, decided_at FROM decisions WHERE wanted = ${wanted}
  ORDER BY decided_at DESC ${limit(count)}`

/** Counts decisions of one kind after a time, up to `max`. */
const countedUpTo = (wanted: 0 | 1, max: number, after: number | undefined) => sql`
  (SELECT count(*) FROM (SELECT 1 FROM decisions
    WHERE wanted = ${wanted} ${after === undefined ? empty : sql`AND decided_at > ${after}`} ${limit(max)}) AS counted)`

/** How many decisions there are of each kind, up to `max`. @param after only later ones: milliseconds since 1970 */
export const countDecisions = (max: number, after?: number) => sql<{ wanted: number; unwanted: number }>`
  SELECT ${countedUpTo(1, max, after)} AS wanted, ${countedUpTo(0, max, after)} AS unwanted`

export interface ModelRow {
  readonly id: string
  /** Milliseconds since 1970. */
  readonly trained_at: number
  /** When the last of the decisions was made that it was trained with. */
  readonly decided_until: number
}

export const newestModel = () => sql<ModelRow>`
  SELECT id, trained_at, decided_until FROM interest_models ORDER BY trained_at DESC, id LIMIT 1`

export const modelById = (id: string) =>
  sql<{ model: string }>`SELECT model FROM interest_models WHERE id = ${id}`

/** @param model JSON */
export const storeModel = ({ id, trained_at, decided_until }: ModelRow, model: string) => sql`
  INSERT INTO interest_models (id, trained_at, decided_until, model)
  VALUES (${id}, ${trained_at}, ${decided_until}, ${model})
  ON CONFLICT (id) DO UPDATE SET trained_at = excluded.trained_at, decided_until = excluded.decided_until`

export const deleteModels = (before?: number) => sql`
  DELETE FROM interest_models ${before === undefined ? empty : sql`WHERE trained_at < ${before}`}`

export const deleteDecisions = () => sql`DELETE FROM decisions`
