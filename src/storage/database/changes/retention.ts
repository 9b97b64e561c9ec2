import { randomBytes } from 'node:crypto'
import { inBatches } from '../../../lib/background-jobs.ts'
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
  const log = await database.first(logState())
  if (log === undefined) throw new Error('the table change_log is empty')
  const tooMany = Math.max(log.floor, log.newest - keep.maxCount)
  // Reads no more than `maxCount` changes, however many there are.
  const staying = await database.scanner.first(firstSince(tooMany, clock.now() - keep.maxAgeMs))
  const tooOld = staying === undefined ? log.newest : staying.id - 1
  const floor = Math.min(Math.max(tooMany, tooOld), log.newest - 1)
  // Before the changes are removed, so that a reader that misses them finds out.
  if (floor > log.floor) await database.transaction((tx) => tx.run(raiseFloor(floor)))
  return inBatches(BATCH, undefined, () => database.transaction((tx) => tx.run(removeChanges(floor, BATCH))))
}

/**
 * Gives the changes of a copy a log of its own, before anyone follows it. Cursors of the source become invalid here,
 * because what is written there from now on is missing in the copy.
 */
export async function renewLog(database: Database): Promise<void> {
  await database.transaction((tx) => tx.run(renew(randomBytes(6).toString('hex'))))
}

/** The first change after an id that is young enough to keep. */
const firstSince = (after: number, time: number) => sql<{ id: number }>`
  SELECT id FROM changes WHERE id > ${after} AND at >= ${time} ORDER BY id ${limit(1)}`

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
