import type { Dialect } from '../dialect.ts'
import { limit, sql } from '../sql.ts'
import type { Topic } from './change.ts'

/** The ids that the table spans. `newest` is 0 while it is empty. */
export const logState = () => sql<{ epoch: string; floor: number; newest: number }>`
  SELECT epoch, floor, COALESCE((SELECT max(id) FROM changes), 0) AS newest FROM change_log`

/** Changes after one id up to another, as arrays: `changeOf`. */
export const changesBetween = (after: number, upTo: number, count: number) => sql`
  SELECT id, at, topic, kind, key, account_id, before, after FROM changes
  WHERE id > ${after} AND id <= ${upTo} ORDER BY id ${limit(count)}`

/** Changes from one id downwards, the newest first. */
export const changesBefore = (floor: number, upTo: number, count: number) => sql`
  SELECT id, at, topic, kind, key, account_id, before, after FROM changes
  WHERE id > ${floor} AND id <= ${upTo} ORDER BY id DESC ${limit(count)}`

/** The change with this id, or the last one before it. */
export const changeUpTo = (id: number) => sql`
  SELECT id, at, topic, kind, key, before, after FROM changes WHERE id <= ${id} ORDER BY id DESC LIMIT 1`

/** The last id of the oldest changes, and the first of them that is young enough to keep. */
export const oldest = (floor: number, bornAfter: number, count: number) => sql<{
  last: number | null
  staying: number | null
}>`
  SELECT max(id) AS last, min(CASE WHEN at >= ${bornAfter} THEN id END) AS staying
  FROM (SELECT id, at FROM changes WHERE id > ${floor} ORDER BY id ${limit(count)}) AS oldest`

/** To be run before the changes are removed, so that a reader that misses them finds out. */
export const raiseFloor = (floor: number) =>
  sql`UPDATE change_log SET floor = ${floor} WHERE floor < ${floor}`

/**
 * Changes of domains stay, as their history. The unary plus keeps the planner from walking through all of them by id:
 * the other changes have an index of their own.
 */
export const removeChanges = (upTo: number, count: number) => sql`
  DELETE FROM changes WHERE id IN (
    SELECT id FROM changes WHERE topic <> 'domain' AND +id <= ${upTo} ${limit(count)}
  )`

/** Invalidates all cursors of the database that this one was copied from; the copied changes become history. */
export const renewLog = (epoch: string) => sql`
  UPDATE change_log SET epoch = ${epoch}, floor = COALESCE((SELECT max(id) FROM changes), 0)`

export const removeAllChanges = (count: number) => sql`
  DELETE FROM changes WHERE id IN (SELECT id FROM changes ORDER BY id ${limit(count)})`

/**
 * Changes of one topic as one text, which costs a tenth of reading rows: key, before and after as JSON, separated by
 * commas. `last` and `count` refer to all topics.
 */
export const changesAsText = (
  dialect: Dialect,
  topic: Topic,
  after: number,
  upTo: number,
  count: number,
) => sql<{
  last: number | null
  count: number
  text: string | null
}>`
  SELECT max(id) AS last, count(*) AS count, string_agg(CASE WHEN topic = ${topic} THEN
    '[' || ${dialect.quoted(sql`key`)} || ',' || COALESCE(before, 'null') || ',' || COALESCE(after, 'null') || ']' END,
    ',' ORDER BY id) AS text
  FROM (
    SELECT id, topic, key, before, after FROM changes WHERE id > ${after} AND id <= ${upTo} ORDER BY id ${limit(count)}
  ) AS page`

export const newestChange = () => sql<{ id: number }>`SELECT COALESCE(max(id), 0) AS id FROM changes`
