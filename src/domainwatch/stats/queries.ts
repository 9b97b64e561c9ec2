import type { Dialect } from '../../database/dialect.ts'
import { allOf, join, limit, sql, type Sql } from '../../database/sql.ts'
import type { Filters } from '../matches.ts'
import { gone, matching, notGone } from '../queries.ts'
import type { Span } from './counted.ts'

/** By their names: then an index of names and dates alone serves all other records. */
const notAmongGone = (now: number) => sql`name NOT IN (SELECT name FROM domains WHERE ${gone(now)})`

const within = (column: Sql, { from, to }: Span) => sql`${column} >= ${from} AND ${column} <= ${to}`

const perDay = (column: Sql, conditions: readonly Sql[]) => sql<DayRow>`
  SELECT substr(${column}, 1, 10) AS day, count(*) AS count FROM domains
  WHERE ${allOf(conditions)} GROUP BY substr(${column}, 1, 10)`

interface DayRow {
  readonly day: string
  readonly count: number
}

/** Registrations a day: of what is bought, and of what was deleted later. A day may be there twice. */
export function registrations(dialect: Dialect, filters: Filters, span: Span, now: number) {
  const all = [within(sql`date_reg`, span), ...matching(dialect, filters), notAmongGone(now)]
  const parts = [
    perDay(sql`date_reg`, [sql`status = 1`, ...all]),
    perDay(sql`date_reg`, [sql`status = 0`, sql`deleted_at <> date_reg`, ...all]),
  ]
  return sql<DayRow>`${join(parts, ' UNION ALL ')}`
}

export const deletions = (dialect: Dialect, filters: Filters, span: Span, now: number) =>
  perDay(sql`deleted_at`, [within(sql`deleted_at`, span), ...matching(dialect, filters), notAmongGone(now)])

/**
 * The so many records behind a name, by length and agent, as arrays: length, agent; how many match, how many of them are
 * bought, reserved, in review, discarded; how many there are in all, and the last name.
 */
export function groupsAfter(dialect: Dialect, filters: Filters, after: string, count: number, now: number) {
  const matches = allOf([...matching(dialect, filters), notGone(now)])
  return sql`
    SELECT length, agent, sum(hit), sum(hit * status), sum(hit * reserved), sum(hit * revision),
      sum(CASE WHEN discarded_at IS NULL THEN 0 ELSE hit END), count(*), max(name)
    FROM (
      SELECT name, length, agent, status, reserved, revision, discarded_at,
        CASE WHEN ${matches} THEN 1 ELSE 0 END AS hit
      FROM domains WHERE name > ${after} ORDER BY name ${limit(count)}
    ) AS page
    GROUP BY length, agent`
}

/** All accounts that track domains, and when each last added some: milliseconds since 1970. */
export const lastAdds = () => sql<{ account: string; added_at: number | null }>`
  SELECT accounts.name AS account, feeds.added_at
  FROM accounts LEFT JOIN feeds ON feeds.account_id = accounts.id
  WHERE accounts.service = 'domainwatch' ORDER BY accounts.name`
