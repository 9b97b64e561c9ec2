import type { Dialect } from '../../storage/database/dialect.ts'
import { allOf, limit, raw, sql, type Sql } from '../../storage/database/sql.ts'
import type { Filters } from '../filters.ts'
import { notExpired } from '../queries-records.ts'
import { matching } from '../queries-filters.ts'
import type { Span } from './counts.ts'

const within = (column: Sql, { from, to }: Span) => sql`${column} >= ${from} AND ${column} <= ${to}`

/** A record first recorded as deleted has no registration. */
const WAS_REGISTERED = sql`(status = 1 OR deleted_at <> date_reg)`

/** The next `count` records after a name, and the filters that some of them match at a time. */
export interface Part {
  readonly dialect: Dialect
  readonly filters: Filters
  readonly after: string
  readonly count: number
  readonly now: number
}

const recordsOf = ({ after, count }: Part) =>
  sql`(SELECT * FROM domains WHERE name > ${after} ORDER BY name ${limit(count)}) AS page`

const matchesIn = ({ dialect, filters, now }: Part) => [...matching(dialect, filters), notExpired(now)]

/** Registrations and deletions per day of the span. */
export function daysIn(part: Part, span: Span) {
  const perDay = (series: 'registered' | 'deleted', column: Sql, condition: Sql) => sql`
    SELECT ${raw(`'${series}'`)} AS series, substr(${column}, 1, 10) AS day, count(*) AS count
    FROM ${recordsOf(part)} WHERE ${allOf([within(column, span), condition, ...matchesIn(part)])}
    GROUP BY substr(${column}, 1, 10)`
  const registered = perDay('registered', sql`date_reg`, WAS_REGISTERED)
  const deleted = perDay('deleted', sql`deleted_at`, sql`status = 0`)
  return sql<DayRow>`${registered} UNION ALL ${deleted}`
}

/** The words of the names that were registered in the span. */
export const wordsIn = (part: Part, span: Span) => sql<{ words: string; date_reg: string }>`
  SELECT words, date_reg FROM ${recordsOf(part)}
  WHERE ${allOf([sql`words IS NOT NULL`, WAS_REGISTERED, within(sql`date_reg`, span), ...matchesIn(part)])}`

/** The combinations of tags, with the number of matching records of each. */
export const tagsIn = (part: Part) => sql<{ tags: string; count: number }>`
  SELECT tags, count(*) AS count FROM ${recordsOf(part)}
  WHERE ${allOf([sql`tags IS NOT NULL`, ...matchesIn(part)])} GROUP BY tags`

interface DayRow {
  readonly series: 'registered' | 'deleted'
  readonly day: string
  readonly count: number
}

/**
 * All records by length and agent, as arrays: length, agent; matches; how many of them are bought, reserved, in review,
 * discarded; all records of the group, and the last name.
 */
export const groupsIn = (part: Part) => sql`
  SELECT length, agent, sum(hit), sum(hit * status), sum(hit * reserved), sum(hit * revision),
    sum(CASE WHEN discarded_at IS NULL THEN 0 ELSE hit END), count(*), max(name)
  FROM (
    SELECT name, length, agent, status, reserved, revision, discarded_at,
      CASE WHEN ${allOf(matchesIn(part))} THEN 1 ELSE 0 END AS hit
    FROM ${recordsOf(part)}
  ) AS tested
  GROUP BY length, agent`

/** All domainwatch accounts, and when each last added records: milliseconds since 1970. */
export const lastAdds = () => sql<{ account: string; added_at: number | null }>`
  SELECT accounts.name AS account, feeds.added_at
  FROM accounts LEFT JOIN feeds ON feeds.account_id = accounts.id
  WHERE accounts.service = 'domainwatch' ORDER BY accounts.name`
