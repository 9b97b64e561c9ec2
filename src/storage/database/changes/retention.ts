import { randomBytes } from 'node:crypto'
import type { Clock } from '../../../lib/clock.ts'
import type { Database } from '../database.ts'
import {
  logState,
  oldest,
  raiseFloor,
  removeAllChanges,
  removeChanges,
  renewLog as renew,
} from './queries.ts'

/** Changes removed in one transaction, so that other writers get their turn in between. */
const BATCH = 2_000

export interface Retention {
  readonly maxAgeMs: number
  readonly maxCount: number
}

/**
 * Lets go of changes that are too old or too many for those who follow them. What is said of domains stays where it is,
 * as their history. The newest change always stays: ids go on from it.
 * @returns how many were removed
 */
export async function sweepChanges(database: Database, clock: Clock, keep: Retention): Promise<number> {
  let total = 0
  for (;;) {
    const { removed, more } = await database.transaction(async (tx) => {
      const log = await tx.first(logState())
      if (log === undefined) throw new Error('the log of changes has lost its only row')
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

/** Up to where nobody needs them to follow. */
function floorOf(log: { newest: number }, maxCount: number, last: number | null, staying: number | null) {
  if (last === null) return 0
  const tooOld = staying === null ? last : staying - 1
  const tooMany = Math.min(last, log.newest - maxCount)
  return Math.min(Math.max(tooOld, tooMany), log.newest - 1)
}

/** Changes removed in one transaction. */
const CLEAR_BATCH = 10_000

/**
 * Makes the changes of a copy a log of its own, before anybody follows it: whoever comes with a cursor of where it was
 * copied from is told that he lost track, for what was written there since is not here.
 */
export async function renewLog(database: Database): Promise<void> {
  await database.transaction((tx) => tx.run(renew(randomBytes(6).toString('hex'))))
}

/** Forgets all changes, where they say only that records were copied here. Before anybody follows them. */
export async function clearChanges(database: Database): Promise<void> {
  while ((await database.transaction((tx) => tx.run(removeAllChanges(CLEAR_BATCH)))) === CLEAR_BATCH);
}
