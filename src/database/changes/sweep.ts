import type { Clock } from '../../core/clock.ts'
import type { Database } from '../database.ts'
import { logState, oldest, raiseFloor, removeChanges } from './queries.ts'

/** Changes removed in one transaction, so that other writers get their turn in between. */
const BATCH = 2_000

export interface Retention {
  readonly maxAgeMs: number
  readonly maxCount: number
}

/**
 * Removes changes that are too old or too many. The newest one always stays: ids go on from it.
 * @returns how many were removed
 */
export async function sweepChanges(database: Database, clock: Clock, keep: Retention): Promise<number> {
  let total = 0
  for (;;) {
    const removed = await database.transaction(async (tx) => {
      const log = await tx.first(logState())
      if (log === undefined) throw new Error('the log of changes has lost its only row')
      const { last, staying } = (await tx.first(oldest(log.floor, clock.now() - keep.maxAgeMs, BATCH))) ?? {
        last: null,
        staying: null,
      }
      if (last === null) return 0
      const tooOld = staying === null ? last : staying - 1
      const tooMany = Math.min(last, log.newest - keep.maxCount)
      const floor = Math.min(Math.max(tooOld, tooMany), log.newest - 1)
      if (floor <= log.floor) return 0
      await tx.run(raiseFloor(floor))
      return tx.run(removeChanges(log.floor, floor))
    })
    total += removed
    if (removed < BATCH) return total
  }
}
