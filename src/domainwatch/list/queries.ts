import { isOneOf, type Dialect } from '../../storage/database/dialect.ts'
import { allOf, empty, join, limit, raw, sql, type Query, type Sql } from '../../storage/database/sql.ts'
import { conditionsOf, type Filters, type NamedCondition } from '../filters.ts'
import { notExpired } from '../queries-records.ts'
import { filterConditions, isMarked, matching } from '../queries-filters.ts'

/** The columns that lists are sorted by. */
export type SortKey = 'date_reg' | 'deleted_at' | 'date_mod' | 'name' | 'length'

/**
 * Whether an index has the records in this order. Indexes by modification and by length would make `add` a third slower; without
 * them, a list in such an order is one pass over the table that keeps the records of the page.
 */
export const hasIndex = (key: SortKey): boolean => key !== 'date_mod' && key !== 'length'

/** A position in an ordered list: the sort key of a record as text (empty if that is the name), and its name to break ties. */
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
  | { readonly kind: 'all'; readonly status?: 0 | 1 }
  | {
      readonly kind: 'registered' | 'deleted'
      readonly newest: number
      readonly range?: ListRange | undefined
      /** Whether to read the whole table: the index by date would lead to too many rows, each fetched separately. */
      readonly isScanned?: boolean
    }

/** Whether a list is of all records, not of the newest registrations or deletions only. */
export const isOfAll = (sources: readonly Source[]): boolean => sources.every(({ kind }) => kind === 'all')

/** As the index by deletion defines it: an engine uses a partial index only for its own condition. */
const isDeleted = ({ plansAsWritten }: Dialect): Sql =>
  plansAsWritten ? sql`deleted_at IS NOT NULL` : sql`status = 0`

/** The columns of a page, in this order. */
export const COLUMNS =
  'name, length, agent, status, reserved, revision, discarded_at, date_reg, date_mod, deleted_at'
const plainColumns = raw(COLUMNS)
/** The same where an index has given the name and the key. */
const columnsFound = (key: SortKey): Sql =>
  raw(COLUMNS.replace('name', 'found AS name').replace(key, `place AS ${key}`))

interface Selection {
  readonly key: SortKey
  /** Only records of this status. */
  readonly status: 0 | 1 | undefined
  readonly conditions: readonly Sql[]
  /** Where to select from, instead of the table. */
  readonly among?: Sql | undefined
  /** Whether the index of the key is walked in order, whatever the filters. */
  readonly inOrder?: boolean | undefined
  readonly names?: NameRange | undefined
}

/** Names in the order of the table, after one up to another. */
interface NameRange {
  readonly after: string
  readonly upTo: string | undefined
}

/**
 * Selects the records of one source. Conditions on the name are first checked in an index by the key, which contains the name,
 * and only the rows that match are fetched: ten times faster if few match, and twenty times among ten million, where each row
 * is on another page. An engine with statistics chooses such a plan itself, except for a text search.
 */
function select(dialect: Dialect, filters: Filters, selection: Selection): Sql {
  const { key, status, conditions, among, inOrder, names } = selection
  const isUnserved = (among !== undefined || !hasIndex(key)) && !isMarked(filters)
  const isScan = dialect.plansAsWritten && (names !== undefined || isUnserved)
  // The table itself is the index by name.
  const walked = isScan ? 'name' : inOrder === true && hasIndex(key) ? key : undefined
  const { where: ofFilters, byName, traits, dates } = filterConditions(dialect, filters, walked)
  const { plansAsWritten } = dialect
  const where = [...conditions, ...ofFilters]
  // A unary plus keeps the engine from using an index for the condition.
  const checked = status === undefined ? [] : [status === 0 ? sql`+status = 0` : sql`+status = 1`]
  if (plansAsWritten && isMarked(filters) && (walked === undefined || walked === 'date_reg'))
    return sql`SELECT ${plainColumns} FROM domains WHERE ${allOf([...where, ...byName, ...checked])}`
  if (among !== undefined)
    return sql`SELECT ${plainColumns} FROM ${among} WHERE ${allOf([...where, ...byName, ...checked])}`
  const ofStatus = statusCondition(dialect, status)
  const inIndex = plansAsWritten ? [...byName, ...traits] : byName
  // The table is scanned for a key that has no index.
  if (inIndex.length === 0 || key === 'name' || !hasIndex(key))
    return sql`SELECT ${plainColumns} FROM domains WHERE ${allOf([...where, ...byName, ...ofStatus])}`
  const span = key === 'date_reg' ? dates : []
  return sql`SELECT ${columnsFound(key)} FROM (
    SELECT ${raw(key)} AS place, name AS found FROM domains
    WHERE ${allOf([...ofStatus, ...span, ...inIndex])}
  ) AS matching CROSS JOIN domains WHERE ${allOf([sql`name = found`, ...where, ...ofStatus])}`
}

function statusCondition(dialect: Dialect, status: 0 | 1 | undefined): readonly Sql[] {
  if (status === undefined) return []
  return [status === 0 ? isDeleted(dialect) : sql`status = 1`]
}

interface SourceOptions extends Pick<PageRequest, 'filters' | 'now' | 'sortKey' | 'inOrder' | 'names'> {
  readonly among?: Sql | undefined
}

/** The records of one source. */
function records(dialect: Dialect, source: Source, options: SourceOptions): Sql {
  const { filters, now, sortKey, among, inOrder, names } = options
  const conditions = [notExpired(now)]
  if (names !== undefined) {
    conditions.push(sql`name > ${names.after}`)
    if (names.upTo !== undefined) conditions.push(sql`name <= ${names.upTo}`)
  }
  if (source.kind === 'all') {
    const { status } = source
    return select(dialect, filters, { key: sortKey, status, conditions, among, inOrder, names })
  }
  const status = source.kind === 'deleted' ? 0 : 1
  const name = SOURCE_KEYS[source.kind]
  const isScanned = source.isScanned === true
  const from = isScanned ? raw('domains') : undefined
  if (source.range !== undefined) {
    conditions.push(...isWithin(name, source.range, isScanned))
    return select(dialect, filters, { key: name, status, conditions, among: from })
  }
  return sql`SELECT * FROM (
    ${select(dialect, filters, { key: name, status, conditions, among: from })}
    ${orderBy(name, false, isScanned)} ${limit(source.newest)}
  ) AS newest`
}

/** Later pages: the records between the first page's ends, so that newer ones do not push others out. */
function isWithin(key: SortKey, { low, high }: ListRange, isScanned: boolean): readonly Sql[] {
  return [compared(key, '>=', low, isScanned), compared(key, '<=', high, isScanned)]
}

/** @param isScanned the table is scanned: a unary plus keeps the engine from using an index, and changes nothing else */
const columnOf = (key: SortKey, isScanned: boolean): Sql => raw(isScanned && key !== 'name' ? `+${key}` : key)

export interface PageRequest {
  readonly sources: readonly Source[]
  readonly filters: Filters
  readonly sortKey: SortKey
  readonly ascending: boolean
  /** Only records after this position, in the list's order. */
  readonly after?: ListPosition | undefined
  /** Only records up to this position, included. */
  readonly upTo?: ListPosition | undefined
  readonly limit: number
  readonly now: number
  /** Whether to walk the index of the key, whatever the filters: many pages then take one pass, and none is sorted. */
  readonly inOrder?: boolean | undefined
  /** Only records with these names: the table is read in their order, whatever the filters. */
  readonly names?: NameRange | undefined
}

/**
 * Whether no index covers the filters of a page: fetching row by row then takes twenty times as long as a scan of the table,
 * unless enough rows near the beginning of the page match.
 */
export function goesThroughTable({ plansAsWritten }: Dialect, request: PageRequest): boolean {
  const { filters, sources, sortKey, inOrder } = request
  if (!plansAsWritten || !hasIndex(sortKey) || inOrder === true || isMarked(filters)) return false
  return isOfAll(sources) && !areServed(filters, sortKey)
}

/** Whether the index of a key decides all filters, so that only the rows that match are fetched. */
function areServed(filters: Filters, key: SortKey): boolean {
  const isServed = ({ name, sql: { record, name: byName, rangeOf: bounded } }: NamedCondition) =>
    record === undefined ||
    byName !== undefined ||
    bounded === key ||
    (key === 'date_reg' && name === 'status')
  return conditionsOf(filters).every(isServed)
}

/** Rows that are tried near the beginning of a page: some 100 ms if each is on another page. */
const NEAR = 20_000

/**
 * Selects whether the source has so many candidates that scanning the table is faster. Undefined if its index is always fast. A
 * forged cursor may have a range that spans everything.
 */
export function hasManyCandidates(
  dialect: Dialect,
  source: Exclude<Source, { kind: 'all' }>,
  filters: Filters,
  now: number,
) {
  const { kind, newest, range } = source
  const key = SOURCE_KEYS[kind]
  if (!dialect.plansAsWritten || isMarked(filters)) return undefined
  const ofStatus = statusCondition(dialect, kind === 'deleted' ? 0 : 1)
  if (range !== undefined) {
    const conditions = allOf([...ofStatus, ...isWithin(key, range, false)])
    return sql<{ many: number }>`SELECT count(*) = ${NEAR} AS many FROM (
      SELECT 1 FROM domains WHERE ${conditions} ${limit(NEAR)}
    ) AS candidates`
  }
  if (areServed(filters, key)) return undefined
  const conditions = allOf([...matching(dialect, filters), notExpired(now)])
  return sql<{ many: number }>`SELECT count(*) < ${newest} AS many FROM (
    SELECT 1 FROM ${nearest(orderBy(key, false), ofStatus)} WHERE ${conditions} ${limit(newest)}
  ) AS found`
}

/** What the records of `last_register` and of `last_deleted` are sorted by. */
export const SOURCE_KEYS = { registered: 'date_reg', deleted: 'deleted_at' } as const

/** The first records in an order, whatever the filters. */
function nearest(order: Sql, conditions: readonly Sql[]): Sql {
  const where = conditions.length === 0 ? empty : sql`WHERE ${allOf(conditions)}`
  return sql`(SELECT * FROM domains ${where} ${order} ${limit(NEAR)}) AS near`
}

/**
 * Selects the rows of a page: `COLUMNS`.
 * @param visit for a page that scans the table: only the first rows, or all
 */
export function page(dialect: Dialect, request: PageRequest, visit?: 'near' | 'table'): Query {
  const { sources, after, upTo, sortKey, ascending } = request
  const isScanned =
    visit === 'table' || sources.some((source) => source.kind !== 'all' && source.isScanned === true)
  const to = (comparison: '<' | '>' | '<=' | '>=', position: ListPosition | undefined) =>
    position === undefined ? [] : [compared(sortKey, comparison, position, isScanned)]
  const beyond = [...to(ascending ? '>' : '<', after), ...to(ascending ? '<=' : '>=', upTo)]
  const where = beyond.length === 0 ? empty : sql`WHERE ${allOf(beyond)}`
  const order = orderBy(sortKey, ascending, isScanned)
  const union = join(
    sources.map((source) => {
      const ofStatus = source.kind === 'all' ? statusCondition(dialect, source.status) : []
      const near = nearest(order, [...ofStatus, ...beyond])
      const among = visit === undefined ? undefined : visit === 'near' ? near : raw('domains')
      return records(dialect, source, { ...request, among })
    }),
    ' UNION ALL ',
  )
  return sql`SELECT * FROM (${union}) AS records ${where} ${order} ${limit(request.limit)}`
}

function orderBy(key: SortKey, ascending: boolean, isScanned = false): Sql {
  const direction = ascending ? 'ASC' : 'DESC'
  const ties = key === 'name' ? '' : `, name ${direction}`
  return sql`ORDER BY ${columnOf(key, isScanned)} ${raw(direction + ties)}`
}

function compared(
  key: SortKey,
  comparison: '<' | '>' | '<=' | '>=',
  position: ListPosition,
  isScanned = false,
): Sql {
  if (key === 'name') return sql`name ${raw(comparison)} ${position.name}`
  const place = key === 'length' ? Number(position.key) : position.key
  return sql`(${columnOf(key, isScanned)}, name) ${raw(comparison)} (${place}, ${position.name})`
}

/**
 * The position of the last of the next `count` records in the order of an index, whatever the filters; no row if fewer are left.
 * Undefined if an engine with statistics plans the page.
 */
export function endOfStretch(dialect: Dialect, request: PageRequest, count: number) {
  const { sources, sortKey, ascending, after } = request
  const [source] = sources
  if (!dialect.plansAsWritten || source?.kind !== 'all') return undefined
  const beyond = after === undefined ? [] : [compared(sortKey, ascending ? '>' : '<', after)]
  const conditions = [...statusCondition(dialect, source.status), ...beyond]
  const where = conditions.length === 0 ? empty : sql`WHERE ${allOf(conditions)}`
  return sql<ListPosition>`SELECT ${sortKey === 'name' ? raw(`''`) : raw(sortKey)} AS key, name FROM domains
    ${where} ${orderBy(sortKey, ascending)} LIMIT 1 OFFSET CAST(${count - 1} AS INTEGER)`
}

/**
 * The first positions of a list as one text, which costs a tenth of rows: a line of the key, a tab and the name for each, in no
 * order. The lines sort as the positions do.
 */
export function places(dialect: Dialect, request: PageRequest) {
  const { sortKey } = request
  const digits = sql`CASE WHEN length < 10 THEN '0' ELSE '' END || CAST(length AS TEXT)`
  const key = sortKey === 'length' ? digits : raw(sortKey)
  return sql<{ text: string | null }>`
    SELECT string_agg(${key} || ${TAB} || name, ${LINE_END}) AS text FROM (${page(dialect, request)}) AS page`
}

/** The rows (`COLUMNS`) of those of these names that match, in no order. */
export function rowsOfNames(
  dialect: Dialect,
  { filters, now }: Pick<PageRequest, 'filters' | 'now'>,
  names: readonly string[],
) {
  const isNamed = isOneOf(dialect, sql`name`, names)
  // SQLite would rather go through all records of a status.
  const { where, byName } = filterConditions(dialect, filters, 'name')
  return sql`SELECT ${plainColumns} FROM domains
    WHERE ${allOf([isNamed, ...where, ...byName, notExpired(now)])}`
}

/** The first and the last record of `last_register` or `last_deleted` at this moment: key and name joined. */
export function rangeOf(dialect: Dialect, source: Source, filters: Filters, now: number) {
  const key = raw(source.kind === 'all' ? 'date_reg' : SOURCE_KEYS[source.kind])
  // Keys are dates of one width, so key and name joined sort as the pair does.
  return sql<{ low: string | null; high: string | null }>`
    SELECT min(${key} || name) AS low, max(${key} || name) AS high
    FROM (${records(dialect, source, { filters, now, sortKey: 'date_reg' })}) AS source`
}

/**
 * Records after a name as one text, a line each, in no order: a tenth of the cost of rows. `build-columns.ts` parses it.
 */
export const recordsAsText = (dialect: Dialect, after: string, count: number) => sql<{
  last: string | null
  count: number
  text: string | null
}>`
  SELECT max(name) AS last, count(*) AS count, string_agg(
    name || ${TAB} || CAST(status AS TEXT) || CAST(reserved AS TEXT) || CAST(revision AS TEXT)
    || CASE WHEN seen_at IS NULL THEN '0' ELSE '1' END || date_reg || date_mod || COALESCE(deleted_at, '') || ${TAB}
    || COALESCE(CAST(discarded_at AS TEXT), '') || ${TAB} || COALESCE(tags, '') || ${TAB}
    || ${dialect.quoted(sql`agent`)} || ${LINE_END}, '') AS text
  FROM (SELECT * FROM domains WHERE name > ${after} ORDER BY name ${limit(count)}) AS page`

const TAB = raw(`'\t'`)
const LINE_END = raw(`'\n'`)
