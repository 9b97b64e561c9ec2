import type { Dialect } from '../storage/database/dialect.ts'
import { allOf, empty, join, limit, raw, sql, type Query, type Sql } from '../storage/database/sql.ts'
import { goneBefore } from './discarding.ts'
import { conditionsOf, type FilterName, type Filters } from './filters.ts'

/** Later than any date a clock can show: means "never" in comparisons. */
const NEVER = 8_640_000_000_000_000

/** A position in an ordered list: the sort key of a record, and its name to break ties. */
export interface ListPosition {
  readonly key: string
  readonly name: string
}

/** The records from one position to another, both included. */
export interface ListRange {
  readonly low: ListPosition
  readonly high: ListPosition
}

/** The records that a list is made of, and their order. */
export type Source =
  | { readonly kind: 'all' }
  | {
      readonly kind: 'registered' | 'deleted'
      readonly newest: number
      readonly range?: ListRange | undefined
    }

/** The record has not expired. */
export const notGone = (now: number): Sql =>
  sql`COALESCE(discarded_at, ${raw(String(NEVER))}) > ${goneBefore(now)}`

const gone = (now: number): Sql => sql`discarded_at <= ${goneBefore(now)}`

/** As the index by deletion defines it: an engine uses a partial index only for its own condition. */
const isDeleted = ({ plansAsWritten }: Dialect): Sql =>
  plansAsWritten ? sql`deleted_at IS NOT NULL` : sql`status = 0`

/** Filters with a partial index, the one with the fewest records first. */
const PARTIAL_INDEXES: readonly FilterName[] = ['dis', 'rev', 'reserve', 'status']

/** Whether a partial index of few records serves the filters. */
const isMarked = ({ dis, rev, reserve }: Filters) => dis === true || rev === true || reserve === true

/** The conditions of filters, by what can decide them. */
interface FilterConditions {
  /** Those that need the row, or may as well have it. */
  readonly where: Sql[]
  /** Those that are about nothing but the name. */
  readonly byName: Sql[]
  /** Conditions of `where` in terms of the name. */
  readonly traits: Sql[]
  /** Conditions of `where` on `date_reg`. */
  readonly dates: Sql[]
}

/**
 * Where nothing but the form of the statement picks one of several indexes, the first filter of `PARTIAL_INDEXES` picks it: a
 * unary plus keeps the index of another filter away, and changes nothing else.
 */
function filterConditions(dialect: Dialect, filters: Filters): FilterConditions {
  const found: FilterConditions = { where: [], byName: [], traits: [], dates: [] }
  const given = conditionsOf(filters)
  const indexed = PARTIAL_INDEXES.flatMap((name) => given.filter((one) => one.name === name))
  for (const [i, { sql: condition }] of indexed.entries()) {
    if (condition.record === undefined) continue
    const bySql = condition.record(dialect)
    found.where.push(i > 0 && dialect.plansAsWritten ? sql`+${bySql}` : bySql)
  }
  for (const condition of given) {
    if (indexed.includes(condition)) continue
    const { record, name, isDateRange } = condition.sql
    if (record === undefined) found.byName.push(name(dialect))
    else {
      const bySql = record(dialect)
      found.where.push(bySql)
      if (name !== undefined) found.traits.push(name(dialect))
      if (isDateRange === true) found.dates.push(bySql)
    }
  }
  return found
}

/** All filters. */
export function matching(dialect: Dialect, filters: Filters): Sql[] {
  const { where, byName } = filterConditions(dialect, filters)
  return [...where, ...byName]
}

/**
 * Whether filters that no index serves may visit every record, or, of two that an index each serves, all records that the
 * other does not let through.
 * @param hasStatus whether the list is one of bought or of deleted records anyway
 */
export function visitsManyRecords(filters: Filters, hasStatus: boolean): boolean {
  const given = conditionsOf(filters)
  const indexed = given.filter(({ name }) => PARTIAL_INDEXES.includes(name))
  const isUnserved = given.some((one) => !indexed.includes(one) && one.sql.isDateRange !== true)
  const isStatusGiven = filters.status !== undefined
  return isUnserved || indexed.length + (hasStatus && !isStatusGiven ? 1 : 0) > 1
}

type Key = 'date_reg' | 'deleted_at'

/** The columns of a page, in this order. */
export const COLUMNS =
  'name, length, agent, status, reserved, revision, discarded_at, date_reg, date_mod, deleted_at'
const columns = {
  plain: raw(COLUMNS),
  date_reg: raw(COLUMNS.replace('name', 'found AS name').replace('date_reg', 'place AS date_reg')),
  deleted_at: raw(COLUMNS.replace('name', 'found AS name').replace('deleted_at', 'place AS deleted_at')),
}

/**
 * Selects the records of one source. Conditions on the name are first checked in an index by date, which contains the name, and
 * only the rows that match are fetched: ten times faster if few match, and twenty times among ten million, where each row is on
 * another page. An engine with statistics chooses such a plan itself, except for a text search.
 */
function select(
  dialect: Dialect,
  filters: Filters,
  key: Key,
  kind: Source['kind'],
  range: readonly Sql[],
  among?: Sql,
): Sql {
  const { where: ofFilters, byName, traits, dates } = filterConditions(dialect, filters)
  const { plansAsWritten } = dialect
  const where = [...range, ...ofFilters]
  if (plansAsWritten && isMarked(filters)) {
    const also = kind === 'all' ? [] : [kind === 'deleted' ? sql`+status = 0` : sql`+status = 1`]
    return sql`SELECT ${columns.plain} FROM domains WHERE ${allOf([...where, ...byName, ...also])}`
  }
  if (among !== undefined)
    return sql`SELECT ${columns.plain} FROM ${among} WHERE ${allOf([...where, ...byName])}`
  const status = kind === 'all' ? [] : [kind === 'deleted' ? isDeleted(dialect) : sql`status = 1`]
  const inIndex = plansAsWritten ? [...byName, ...traits] : byName
  if (inIndex.length === 0)
    return sql`SELECT ${columns.plain} FROM domains WHERE ${allOf([...where, ...status])}`
  const span = key === 'date_reg' ? dates : []
  return sql`SELECT ${columns[key]} FROM (
    SELECT ${raw(key)} AS place, name AS found FROM domains
    WHERE ${allOf([...status, ...span, ...inIndex])}
  ) AS matching CROSS JOIN domains WHERE ${allOf([sql`name = found`, ...where, ...status])}`
}

/** The records of one source. */
function records(dialect: Dialect, source: Source, filters: Filters, now: number, among?: Sql): Sql {
  const all = [notGone(now)]
  if (source.kind === 'all') return select(dialect, filters, 'date_reg', 'all', all, among)
  const name: Key = source.kind === 'deleted' ? 'deleted_at' : 'date_reg'
  const key = raw(name)
  if (source.range !== undefined) {
    // Later pages: the records between the first page's ends, so that newer ones do not push others out.
    const { low, high } = source.range
    all.push(
      sql`(${key}, name) >= (${low.key}, ${low.name})`,
      sql`(${key}, name) <= (${high.key}, ${high.name})`,
    )
    return select(dialect, filters, name, source.kind, all)
  }
  return sql`SELECT * FROM (
    ${select(dialect, filters, name, source.kind, all)} ORDER BY ${key} DESC, name DESC ${limit(source.newest)}
  ) AS newest`
}

export interface PageRequest {
  readonly sources: readonly Source[]
  readonly filters: Filters
  readonly sortKey: Key
  readonly ascending: boolean
  /** Only records after this place, in the list's order. */
  readonly after?: ListPosition | undefined
  readonly limit: number
  readonly now: number
}

/**
 * Whether no index covers the filters of a page: fetching row by row then takes twenty times as long as a scan of the table,
 * unless enough rows near the beginning of the page match.
 */
export const goesThroughTable = ({ plansAsWritten }: Dialect, { filters, sources }: PageRequest) =>
  plansAsWritten &&
  filters.agent !== undefined &&
  !isMarked(filters) &&
  sources.every(({ kind }) => kind === 'all')

/** Rows that are tried near the beginning of a page: some 100 ms if each is on another page. */
const NEAR = 20_000

/**
 * Selects the rows of a page: `COLUMNS`.
 * @param visit for a page that scans the table: only the first rows, or all
 */
export function page(dialect: Dialect, request: PageRequest, visit?: 'near' | 'table'): Query {
  const { sources, filters, after, ascending, now } = request
  const key = raw(request.sortKey)
  const direction = raw(ascending ? 'ASC' : 'DESC')
  const order = sql`ORDER BY ${key} ${direction}, name ${direction}`
  const beyond =
    after === undefined
      ? empty
      : sql`WHERE (${key}, name) ${raw(ascending ? '>' : '<')} (${after.key}, ${after.name})`
  const near = sql`(SELECT * FROM domains ${beyond} ${order} ${limit(NEAR)}) AS near`
  const among = visit === undefined ? undefined : visit === 'near' ? near : raw('domains')
  const union = join(
    sources.map((source) => records(dialect, source, filters, now, among)),
    ' UNION ALL ',
  )
  // The unary plus keeps the engine from using an index for the order, and changes nothing else.
  const sorted = visit === 'table' ? sql`ORDER BY +${key} ${direction}, name ${direction}` : order
  return sql`SELECT * FROM (${union}) AS records ${beyond} ${sorted} ${limit(request.limit)}`
}

/** The first and the last record of `last_register` or `last_deleted` at this moment: key and name joined. */
export function rangeOf(dialect: Dialect, source: Source, filters: Filters, now: number) {
  const key = raw(source.kind === 'deleted' ? 'deleted_at' : 'date_reg')
  // Keys are dates of one width, so key and name joined sort as the pair does.
  return sql<{ low: string | null; high: string | null }>`
    SELECT min(${key} || name) AS low, max(${key} || name) AS high
    FROM (${records(dialect, source, filters, now)}) AS source`
}

/** When the first of the discarded records was discarded; null if there is none. */
export const firstDiscarded = (now: number) => sql<{ marked_at: number | null }>`
  SELECT min(discarded_at) AS marked_at FROM domains WHERE discarded_at > ${goneBefore(now)}`

/** Whether there are more records than `count`. */
export const moreThan = (count: number) => sql<{ name: string }>`
  SELECT name FROM domains ORDER BY name ${limit(1)} OFFSET CAST(${count} AS INTEGER)`

/**
 * Records after a name as one text, a line each, in no order: a tenth of the cost of rows. `list/read-records.ts` parses it.
 */
export const recordsAsText = (dialect: Dialect, after: string, count: number) => sql<{
  last: string | null
  count: number
  text: string | null
}>`
  SELECT max(name) AS last, count(*) AS count, string_agg(
    name || ${TAB} || CAST(status AS TEXT) || CAST(reserved AS TEXT) || CAST(revision AS TEXT)
    || date_reg || date_mod || COALESCE(deleted_at, '') || ${TAB}
    || COALESCE(CAST(discarded_at AS TEXT), '') || ${TAB} || ${dialect.quoted(sql`agent`)} || ${LINE_END}, '') AS text
  FROM (SELECT * FROM domains WHERE name > ${after} ORDER BY name ${limit(count)}) AS page`

const TAB = raw(`'\t'`)
const LINE_END = raw(`'\n'`)

/** Deletes at most `count` records that have expired. */
export const deleteExpired = (now: number, count: number) => sql`
  DELETE FROM domains WHERE name IN (
    SELECT name FROM domains WHERE ${gone(now)} ORDER BY discarded_at ${limit(count)}
  )`

export const anyExpired = (now: number) => sql<{ name: string }>`
  SELECT name FROM domains WHERE ${gone(now)} LIMIT 1`

/** Deletes the expired records whose names are first in these rows: a JSON array of arrays. */
export function deleteExpiredOf(dialect: Dialect, now: number, rows: string) {
  const given = dialect.jsonRows(rows, ['text'])
  return sql`DELETE FROM domains WHERE ${gone(now)} AND name IN (SELECT ${given.columns} FROM ${given.table})`
}

/** Records that the account added domains now. Last in a transaction, since it blocks others of the account. */
export const noteAdd = (account: string, now: number) => sql`
  INSERT INTO feeds (account_id, added_at) SELECT id, CAST(${now} AS BIGINT) FROM accounts WHERE name = ${account}
  ON CONFLICT (account_id) DO UPDATE SET added_at = excluded.added_at`

/** Which of these names are recorded. */
export const recorded = (names: readonly string[]) => sql<{ name: string }>`
  SELECT name FROM domains WHERE name IN (${join(names)})`
