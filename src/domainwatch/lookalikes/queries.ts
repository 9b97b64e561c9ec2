import { limit, raw, sql } from '../../storage/database/sql.ts'
import { notExpired } from '../queries-expiry.ts'

/** The next `count` names after one, joined by line feeds, and the last of them. Joining them in SQL saves a third of the time. */
export const namesAfter = (after: string, count: number, now: number) => sql<{
  names: string | null
  last: string | null
  visited: number
}>`
  SELECT string_agg(name, ${LINE_FEED}) FILTER (WHERE ${notExpired(now)}) AS names, max(name) AS last, count(*) AS visited
  FROM (SELECT name, discarded_at FROM domains WHERE name > ${after} ORDER BY name ${limit(count)}) AS page`

const LINE_FEED = raw(`'\n'`)
