import { randomBytes } from 'node:crypto'
import type { Clock } from '../../../lib/clock.ts'
import type { Database } from '../database.ts'
import { limit, sql } from '../sql.ts'
import { logState } from './change-log.ts'

/** Changes removed in one transaction, so that other writers can run in between. */
const BATCH = 2_000

export interface Retention {
  readonly maxAgeMs: number
  readonly maxCount: number
}

/**
 * Removes changes that are too old or too many for followers. Changes of domains stay, as their history. The newest
 * change always stays, because ids continue from it.
 * @returns how many were removed
 */
export async function sweepChanges(database: Database, clock: Clock, keep: Retention): Promise<number> {
  let total = 0
  for (;;) {
    const { removed, more } = await database.transaction(async (tx) => {
      const log = await tx.first(logState())
      if (log === undefined) throw new Error('the table change_log is empty')
      const { last, staying } = (await tx.first(oldest(log.floor, clock.now() - keep.maxAgeMs, BATCH))) ?? {
        last: null,
        staying: null,
      }
      const floor = Math.max(log.floor, floorOf(log, keep.maxCount, last, staying))
      if (floor > log.floor) await tx.run(raiseFloor(floor))
      const removed = await tx.run(removeChanges(Math.min(floor, log.newest - 1), BATCH))
      return { removed, more: removed === BATCH || (floor > log.floor && floor === last) }
    })
    total += removed
    if (!more) return total
  }
}

/** Returns the id up to which followers may not need the changes any more. */
function floorOf(log: { newest: number }, maxCount: number, last: number | null, staying: number | null) {
  if (last === null) return 0
  const tooOld = staying === null ? last : staying - 1
  const tooMany = Math.min(last, log.newest - maxCount)
  return Math.min(Math.max(tooOld, tooMany), log.newest - 1)
}

/** Changes removed in one transaction. */
const CLEAR_BATCH = 10_000

/**
 * Gives the changes of a copy a log of its own, before anyone follows it. Cursors of the source become invalid here,
 * because what is written there from now on is missing in the copy.
 */
export async function renewLog(database: Database): Promise<void> {
  await database.transaction((tx) => tx.run(renew(randomBytes(6).toString('hex'))))
}

/** Removes all changes, if they only record that rows were copied here. To be called before anyone follows them. */
export async function clearChanges(database: Database): Promise<void> {
  while ((await database.transaction((tx) => tx.run(removeAllChanges(CLEAR_BATCH)))) === CLEAR_BATCH);
}

/** The last id of the oldest changes, and the first of them that is young enough to keep. */
const oldest = (floor: number, bornAfter: number, count: number) => sql<{
  last: number | null
  staying: number | null
}>`
  SELECT max(id) AS last, min(CASE WHEN at >= ${bornAfter} THEN id END) AS staying
  FROM (SELECT id, at FROM changes WHERE id > ${floor} ORDER BY id ${limit(count)}) AS oldest`

/** To be run before the changes are removed, so that a reader that misses them finds out. */
const raiseFloor = (floor: number) => sql`UPDATE change_log SET floor = ${floor} WHERE floor < ${floor}`

/**
 * Changes of domains stay, as their history. The unary plus keeps the planner from walking through all of them by id:
 * the other changes have an index of their own.
 */
const removeChanges = (upTo: number, count: number) => sql`
  DELETE FROM changes WHERE id IN (
    SELECT id FROM changes WHERE topic <> 'domain' AND +id <= ${upTo} ${limit(count)}
  )`

/** Invalidates all cursors of the database that this one was copied from; the copied changes become history. */
const renew = (epoch: string) => sql`
  UPDATE change_log SET epoch = ${epoch}, floor = COALESCE((SELECT max(id) FROM changes), 0)`

const removeAllChanges = (count: number) => sql`
  DELETE FROM changes WHERE id IN (SELECT id FROM changes ORDER BY id ${limit(count)})`
