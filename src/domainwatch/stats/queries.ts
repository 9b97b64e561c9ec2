import type { Dialect } from '../../storage/database/dialect.ts'
import { allOf, limit, raw, sql, type Sql } from '../../storage/database/sql.ts'
import type { Filters } from '../filters.ts'
import { notExpired } from '../queries-records.ts'
import { matching } from '../queries-filters.ts'
import type { Span } from './counts.ts'

const within = (column: Sql, { from, to }: Span) => sql`${column} >= ${from} AND ${column} <= ${to}`

/** A record first recorded as deleted has no registration. */
const WAS_REGISTERED = sql`(status = 1 OR deleted_at <> date_reg)`

/** The next `count` records after a name. */
const pageAfter = (after: string, count: number) =>
  sql`(SELECT * FROM domains WHERE name > ${after} ORDER BY name ${limit(count)}) AS page`

/**
 * Registrations and deletions per day of the span, among the next `count` records after a name.
 */
export function daysAfter(
  dialect: Dialect,
  filters: Filters,
  span: Span,
  after: string,
  count: number,
  now: number,
) {
  const matches = [...matching(dialect, filters), notExpired(now)]
  const perDay = (series: 'registered' | 'deleted', column: Sql, conditions: readonly Sql[]) => sql`
    SELECT ${raw(`'${series}'`)} AS series, substr(${column}, 1, 10) AS day, count(*) AS count
    FROM ${pageAfter(after, count)} WHERE ${allOf([within(column, span), ...conditions])}
    GROUP BY substr(${column}, 1, 10)`
  const registered = perDay('registered', sql`date_reg`, [WAS_REGISTERED, ...matches])
  const deleted = perDay('deleted', sql`deleted_at`, [sql`status = 0`, ...matches])
  return sql<DayRow>`${registered} UNION ALL ${deleted}`
}

/** The words of the names that were registered in the span, among the next `count` records after a name. */
export function wordsAfter(
  dialect: Dialect,
  filters: Filters,
  span: Span,
  after: string,
  count: number,
  now: number,
) {
  const conditions = [within(sql`date_reg`, span), ...matching(dialect, filters), notExpired(now)]
  return sql<{ words: string; date_reg: string }>`
    SELECT words, date_reg FROM ${pageAfter(after, count)}
    WHERE ${allOf([sql`words IS NOT NULL`, WAS_REGISTERED, ...conditions])}`
}

/** The combinations of tags among the next `count` records after a name, with the number of matching records of each. */
export function tagsAfter(dialect: Dialect, filters: Filters, after: string, count: number, now: number) {
  const conditions = [sql`tags IS NOT NULL`, ...matching(dialect, filters), notExpired(now)]
  return sql<{ tags: string; count: number }>`
    SELECT tags, count(*) AS count FROM ${pageAfter(after, count)} WHERE ${allOf(conditions)} GROUP BY tags`
}

interface DayRow {
  readonly series: 'registered' | 'deleted'
  readonly day: string
  readonly count: number
}

/**
 * The next `count` records after a name, grouped by length and agent, as arrays: length, agent; matches; how many of them are
 * bought, reserved, in review, discarded; all records of the group, and the last name.
 */
export function groupsAfter(dialect: Dialect, filters: Filters, after: string, count: number, now: number) {
  const matches = allOf([...matching(dialect, filters), notExpired(now)])
  return sql`
    SELECT length, agent, sum(hit), sum(hit * status), sum(hit * reserved), sum(hit * revision),
      sum(CASE WHEN discarded_at IS NULL THEN 0 ELSE hit END), count(*), max(name)
    FROM (
      SELECT name, length, agent, status, reserved, revision, discarded_at,
        CASE WHEN ${matches} THEN 1 ELSE 0 END AS hit
      FROM ${pageAfter(after, count)}
    ) AS tested
    GROUP BY length, agent`
}

/** All domainwatch accounts, and when each last added records: milliseconds since 1970. */
export const lastAdds = () => sql<{ account: string; added_at: number | null }>`
  SELECT accounts.name AS account, feeds.added_at
  FROM accounts LEFT JOIN feeds ON feeds.account_id = accounts.id
  WHERE accounts.service = 'domainwatch' ORDER BY accounts.name`
