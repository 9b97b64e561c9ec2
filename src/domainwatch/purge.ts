import type { Clock } from '../core/clock.ts'
import type { Database } from '../database/database.ts'
import { anyExpired, deleteExpired } from './queries.ts'

/** Records removed in one transaction, so that other writers get their turn in between. */
const BATCH = 2_000

/**
 * Removes the records whose 7 days are over. No answer waits for this: they left every answer the moment
 * their time was up. Two that run at once remove what is due between them.
 * @returns how many were removed
 */
export async function purgeExpired(database: Database, clock: Clock, signal: AbortSignal): Promise<number> {
  let total = 0
  for (;;) {
    const removed = await database.transaction((tx) => tx.run(deleteExpired(clock.now(), BATCH)))
    total += removed
    if (removed < BATCH || signal.aborted) return total
  }
}

export async function hasExpired(database: Database, clock: Clock): Promise<boolean> {
  return (await database.first(anyExpired(clock.now()))) !== undefined
}
