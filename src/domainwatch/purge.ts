import type { Clock } from '../lib/clock.ts'
import type { Database, Transaction } from '../storage/database/database.ts'
import type { Dialect } from '../storage/database/dialect.ts'
import { anyExpired, deleteExpired, deleteExpiredOf } from './queries.ts'

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

/**
 * To be called before records are written: one whose 7 days are over is gone, so recording it again must start afresh. Where
 * very many ran out at once the sweep removes the others: whoever writes in between must not wait for all of them.
 * @param rows what will be written: a JSON array of arrays, the name first
 */
export async function makeRoom(tx: Transaction, dialect: Dialect, now: number, rows: () => string) {
  const removed = await tx.run(deleteExpired(now, BATCH))
  if (removed === BATCH) await tx.run(deleteExpiredOf(dialect, now, rows()))
}

export async function hasExpired(database: Database, clock: Clock): Promise<boolean> {
  return (await database.first(anyExpired(clock.now()))) !== undefined
}
