import type { Dialect } from '../storage/database/dialect.ts'
import { allOf, empty, join, limit, raw, sql, type Query, type Sql } from '../storage/database/sql.ts'
import type { SearchText } from '../lib/domain-names.ts'
import { goneBefore } from './discarding.ts'
import { endingWith, globParts, startingWith } from './glob.ts'
import { NAME_FILTERS, type Filters } from './matches.ts'

/** Later than any date a clock can show: stands for "never" in a comparison. */
const NEVER = 8_640_000_000_000_000

/** A place in an ordered list: the sort key of a record, and its name to break ties. */
export interface Place {
  readonly key: string
  readonly name: string
}

export interface Span {
  readonly low: Place
  readonly high: Place
}

/** Which records a list draws from, and by what it sorts them. */
export type Source =
  | { readonly kind: 'all' }
  | { readonly kind: 'registered' | 'deleted'; readonly newest: number; readonly span?: Span | undefined }

/** The record's days are not over. */
export const notGone = (now: number): Sql =>
  sql`COALESCE(discarded_at, ${raw(String(NEVER))}) > ${goneBefore(now)}`

const gone = (now: number): Sql => sql`discarded_at <= ${goneBefore(now)}`

/** In the words of the index by deletion, which differ: an engine uses a partial index only for its own condition. */
const isDeleted = ({ plansAsWritten }: Dialect): Sql =>
  plansAsWritten ? sql`deleted_at IS NOT NULL` : sql`status = 0`

/** Whether an index of few records serves it. */
const isMarked = ({ dis, rev, reserve }: Filters) => dis || rev || reserve

/**
 * All filters but those that look at the text of names; `matches` says the same of one record. Those that pick an index
 * name it by literals: a partial index serves no parameter. Where nothing but the form of the statement picks one of several, the
 * first of these is it: fewer are discarded than in review, and fewer of those than reserved, bought or deleted. The sign keeps
 * the others' indexes away, and changes nothing else.
 */
function conditions(dialect: Dialect, filters: Filters): Sql[] {
  const { agent, length, minLength, maxLength, from, to, hyphen, digits, idn, status } = filters
  const all: Sql[] = []
  const { dis, rev, reserve } = filters
  const besides = (isServed: boolean, condition: Sql) =>
    isServed && dialect.plansAsWritten ? sql`+${condition}` : condition
  if (dis) all.push(sql`discarded_at IS NOT NULL`)
  if (rev) all.push(besides(dis, sql`revision = 1`))
  if (reserve) all.push(besides(dis || rev, sql`reserved = 1`))
  if (status !== undefined)
    all.push(besides(isMarked(filters), status === 1 ? sql`status = 1` : sql`status = 0`))
  if (length !== undefined) all.push(sql`length = ${length}`)
  if (minLength !== undefined) all.push(sql`length >= ${minLength}`)
  if (maxLength !== undefined) all.push(sql`length <= ${maxLength}`)
  if (from !== undefined) all.push(sql`date_reg >= ${from}`)
  if (to !== undefined) all.push(sql`date_reg <= ${to}`)
  if (hyphen !== undefined) all.push(isSo(dialect.contains(sql`name`, '-'), hyphen))
  if (digits !== undefined) all.push(isSo(dialect.hasDigit(sql`name`), digits))
  if (idn !== undefined) all.push(isSo(sql`ascii IS NOT NULL`, idn))
  if (agent !== undefined) all.push(dialect.contains(sql`agent_folded`, agent))
  return all
}

const isSo = (condition: Sql, wanted: number) => (wanted === 1 ? condition : sql`NOT (${condition})`)

type NameFilter = (typeof NAME_FILTERS)[number]

const NAME_TESTS: Readonly<Record<NameFilter, (dialect: Dialect, column: Sql, text: string) => Sql>> = {
  search: (dialect, column, text) => dialect.contains(column, text),
  starts: (dialect, column, text) => dialect.glob(column, startingWith(text)),
  ends: (dialect, column, text) => dialect.glob(column, endingWith(text)),
  pattern: (dialect, column, text) => dialect.glob(column, globParts(text)),
}

/** The filters that look at the text of names: apart those that want nothing but the name, and those that want its A-label. */
function nameConditions(
  dialect: Dialect,
  filters: Filters,
): { readonly byName: Sql[]; readonly other: Sql[] } {
  const found = { byName: [] as Sql[], other: [] as Sql[] }
  for (const filter of NAME_FILTERS) {
    const wanted: SearchText | undefined = filters[filter]
    if (wanted === undefined) continue
    const inName = NAME_TESTS[filter](dialect, sql`name`, wanted.text)
    if (wanted.ascii === undefined) found.byName.push(inName)
    else found.other.push(sql`(${inName} OR ${NAME_TESTS[filter](dialect, sql`ascii`, wanted.ascii)})`)
  }
  return found
}

/** All filters. */
export function matching(dialect: Dialect, filters: Filters): Sql[] {
  const { byName, other } = nameConditions(dialect, filters)
  return [...conditions(dialect, filters), ...byName, ...other]
}

/** What other filters say of the name, so that an index tells it without the record. */
function traitConditions(dialect: Dialect, filters: Filters): Sql[] {
  const { length, minLength, maxLength, hyphen, digits, idn } = filters
  const all: Sql[] = []
  if (length !== undefined) all.push(sql`length(name) = ${length}`)
  if (minLength !== undefined) all.push(sql`length(name) >= ${minLength}`)
  if (maxLength !== undefined) all.push(sql`length(name) <= ${maxLength}`)
  if (hyphen !== undefined) all.push(isSo(dialect.contains(sql`name`, '-'), hyphen))
  if (digits !== undefined) all.push(isSo(dialect.hasDigit(sql`name`), digits))
  if (idn !== undefined) all.push(isSo(sql`length(name) < octet_length(name)`, idn))
  return all
}

type Key = 'date_reg' | 'deleted_at'

/** What a page is made of, in this order. `name` and `key` come from where `from` finds them. */
export const COLUMNS =
  'name, length, agent, status, reserved, revision, discarded_at, date_reg, date_mod, deleted_at'
const columns = {
  plain: raw(COLUMNS),
  date_reg: raw(COLUMNS.replace('name', 'found AS name').replace('date_reg', 'place AS date_reg')),
  deleted_at: raw(COLUMNS.replace('name', 'found AS name').replace('deleted_at', 'place AS deleted_at')),
}

/**
 * The records of one source, as a SELECT. What is wanted of the name is looked for in an index by date first, which holds
 * nothing else, and only the records that were found are fetched: ten times quicker where few match, and twenty times among
 * ten million, where each is on a page of its own. An engine with statistics knows by itself when that is so, but of a search.
 */
function select(
  dialect: Dialect,
  filters: Filters,
  key: Key,
  kind: Source['kind'],
  all: readonly Sql[],
  among?: Sql,
): Sql {
  const { byName, other } = nameConditions(dialect, filters)
  const { plansAsWritten } = dialect
  const where = [...all, ...other]
  if (plansAsWritten && isMarked(filters)) {
    const also = kind === 'all' ? [] : [kind === 'deleted' ? sql`+status = 0` : sql`+status = 1`]
    return sql`SELECT ${columns.plain} FROM domains WHERE ${allOf([...where, ...byName, ...also])}`
  }
  if (among !== undefined)
    return sql`SELECT ${columns.plain} FROM ${among} WHERE ${allOf([...where, ...byName])}`
  const status = kind === 'all' ? [] : [kind === 'deleted' ? isDeleted(dialect) : sql`status = 1`]
  const inIndex = plansAsWritten ? [...byName, ...traitConditions(dialect, filters)] : byName
  if (inIndex.length === 0)
    return sql`SELECT ${columns.plain} FROM domains WHERE ${allOf([...where, ...status])}`
  const { from, to } = filters
  const span = [
    ...(key === 'date_reg' && from !== undefined ? [sql`date_reg >= ${from}`] : []),
    ...(key === 'date_reg' && to !== undefined ? [sql`date_reg <= ${to}`] : []),
  ]
  return sql`SELECT ${columns[key]} FROM (
    SELECT ${raw(key)} AS place, name AS found FROM domains
    WHERE ${allOf([...status, ...span, ...inIndex])}
  ) AS matching CROSS JOIN domains WHERE ${allOf([sql`name = found`, ...where, ...status])}`
}

/** The records of one source. */
function records(dialect: Dialect, source: Source, filters: Filters, now: number, among?: Sql): Sql {
  const all = [notGone(now), ...conditions(dialect, filters)]
  if (source.kind === 'all') return select(dialect, filters, 'date_reg', 'all', all, among)
  const name: Key = source.kind === 'deleted' ? 'deleted_at' : 'date_reg'
  const key = raw(name)
  if (source.span !== undefined) {
    // Later pages: the records between the first page's ends, so that newer ones do not push others out.
    const { low, high } = source.span
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
  readonly after?: Place | undefined
  readonly limit: number
  readonly now: number
}

/**
 * Whether no index tells what such a page asks: to fetch record by record then takes twenty times as long as to go through
 * the table, unless enough is found near the page's beginning.
 */
export const goesThroughTable = ({ plansAsWritten }: Dialect, { filters, sources }: PageRequest) =>
  plansAsWritten &&
  filters.agent !== undefined &&
  !isMarked(filters) &&
  sources.every(({ kind }) => kind === 'all')

/** Records looked at near a page's beginning: some 100 ms where each is on a page of its own. */
const NEAR = 20_000

/**
 * A page's rows, as arrays: `COLUMNS`.
 * @param visit of a page that goes through the table: the first records alone, or all of it
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
  // The sign keeps an index from giving the order, and changes nothing else.
  const sorted = visit === 'table' ? sql`ORDER BY +${key} ${direction}, name ${direction}` : order
  return sql`SELECT * FROM (${union}) AS records ${beyond} ${sorted} ${limit(request.limit)}`
}

/** The ends of the set that `last_register` or `last_deleted` names, at this moment: key and name joined. */
export function spanOf(dialect: Dialect, source: Source, filters: Filters, now: number) {
  const key = raw(source.kind === 'deleted' ? 'deleted_at' : 'date_reg')
  // Keys are dates of one width, so key and name joined sort as the pair does.
  return sql<{ low: string | null; high: string | null }>`
    SELECT min(${key} || name) AS low, max(${key} || name) AS high
    FROM (${records(dialect, source, filters, now)}) AS source`
}

/** When the first of the records that are still discarded was marked; null when there is none. */
export const firstDiscarded = (now: number) => sql<{ marked_at: number | null }>`
  SELECT min(discarded_at) AS marked_at FROM domains WHERE discarded_at > ${goneBefore(now)}`

/** Whether there are more records than `count`. */
export const moreThan = (count: number) => sql<{ name: string }>`
  SELECT name FROM domains ORDER BY name ${limit(1)} OFFSET CAST(${count} AS INTEGER)`

/**
 * Records behind a name, in one text, which costs a tenth of as many rows: a line each, as `readRows` of the search takes
 * it apart. In no order.
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

/** Removes records whose 7 days are over; at most `limit` of them. */
export const deleteExpired = (now: number, count: number) => sql`
  DELETE FROM domains WHERE name IN (
    SELECT name FROM domains WHERE ${gone(now)} ORDER BY discarded_at ${limit(count)}
  )`

export const anyExpired = (now: number) => sql<{ name: string }>`
  SELECT name FROM domains WHERE ${gone(now)} LIMIT 1`

/** Removes those whose names come first in these rows: a JSON array of arrays. */
export function deleteExpiredOf(dialect: Dialect, now: number, rows: string) {
  const given = dialect.jsonRows(rows, ['text'])
  return sql`DELETE FROM domains WHERE ${gone(now)} AND name IN (SELECT ${given.columns} FROM ${given.table})`
}

/** The account added domains now, whatever that changed. Last in a transaction: it makes others of the account wait. */
export const noteAdd = (account: string, now: number) => sql`
  INSERT INTO feeds (account_id, added_at) SELECT id, CAST(${now} AS BIGINT) FROM accounts WHERE name = ${account}
  ON CONFLICT (account_id) DO UPDATE SET added_at = excluded.added_at`

/** Which of these names are recorded. */
export const recorded = (names: readonly string[]) => sql<{ name: string }>`
  SELECT name FROM domains WHERE name IN (${join(names)})`
