import type { Dialect } from '../storage/database/dialect.ts'
import { allOf, sql, type Sql } from '../storage/database/sql.ts'
import { conditionsOf, type FilterName, type Filters } from './filters.ts'
import { notExpired } from './queries-records.ts'

/** Filters with a partial index by `date_reg`, those with the fewest records first. Of a mark it has the records that have it. */
const PARTIAL_INDEXES: readonly FilterName[] = [
  'dis',
  'discarded',
  'rev',
  'revision',
  'reserve',
  'reserved',
  'status',
]

const hasPartialIndex = (name: FilterName, filters: Filters): boolean =>
  PARTIAL_INDEXES.includes(name) && (name === 'status' || filters[name] === true || filters[name] === 1)

/** Whether a partial index of few records serves the filters. */
export const isMarked = (filters: Filters) =>
  PARTIAL_INDEXES.some((name) => name !== 'status' && hasPartialIndex(name, filters))

/** The conditions of filters, by what can decide them. */
interface FilterConditions {
  /** Conditions on the row. */
  readonly where: Sql[]
  /** Conditions on the name only. */
  readonly byName: Sql[]
  /** Conditions of `where` in terms of the name. */
  readonly traits: Sql[]
  /** Conditions of `where` that bound `date_reg`. */
  readonly dates: Sql[]
}

/**
 * On an engine that picks indexes by the form of the statement, the first filter of `PARTIAL_INDEXES` wins: a unary
 * plus disables the index of another filter and has no other effect.
 * @param walked the key whose index is scanned in order, whatever the filters: other indexes are disabled
 */
export function filterConditions(dialect: Dialect, filters: Filters, walked?: string): FilterConditions {
  const found: FilterConditions = { where: [], byName: [], traits: [], dates: [] }
  const given = conditionsOf(filters)
  const indexed = PARTIAL_INDEXES.filter((name) => hasPartialIndex(name, filters)).flatMap((name) =>
    given.filter((one) => one.name === name),
  )
  const plus = (condition: Sql) => (dialect.plansAsWritten ? sql`+(${condition})` : condition)
  for (const [i, { sql: condition }] of indexed.entries()) {
    if (condition.record === undefined) continue
    const bySql = condition.record(dialect)
    const isKeptAway = i > 0 || (walked !== undefined && walked !== 'date_reg')
    found.where.push(isKeptAway ? plus(bySql) : bySql)
  }
  for (const condition of given) {
    if (indexed.includes(condition)) continue
    const { record, name, rangeOf: bounded } = condition.sql
    if (record === undefined) found.byName.push(name(dialect))
    else {
      const bySql = record(dialect)
      const isKeptAway = bounded !== undefined && walked !== undefined && walked !== bounded
      found.where.push(isKeptAway ? plus(bySql) : bySql)
      if (name !== undefined) found.traits.push(name(dialect))
      if (bounded === 'date_reg') found.dates.push(bySql)
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
 * Whether the filters may visit very many records: no index serves them, or an index serves only one of two.
 * @param hasStatus whether the list is one of bought or of deleted records anyway
 * @param isByDate whether the list is in the order by registration
 */
export function visitsManyRecords(filters: Filters, hasStatus: boolean, isByDate: boolean): boolean {
  const given = conditionsOf(filters)
  const indexed = given.filter(({ name }) => hasPartialIndex(name, filters))
  const isUnserved = given.some(
    (one) => !indexed.includes(one) && !(isByDate && one.sql.rangeOf === 'date_reg'),
  )
  const isStatusGiven = filters.status !== undefined
  return isUnserved || indexed.length + (hasStatus && !isStatusGiven ? 1 : 0) > 1
}

/**
 * The number of records that match. An index of dates or of the status would fetch most of the table row by row, so only a partial
 * index of few records is used.
 */
export function countMatching(dialect: Dialect, filters: Filters, now: number) {
  const { where, byName } = filterConditions(dialect, filters, isMarked(filters) ? undefined : 'name')
  return sql<{ count: number }>`
    SELECT count(*) AS count FROM domains WHERE ${allOf([...where, ...byName, notExpired(now)])}`
}
