import type { Clock } from '../../lib/clock.ts'
import type { Database } from '../../storage/database/database.ts'
import { deletionsBefore, removeLives, removeSightings } from './queries.ts'

/** Deleted records forgotten in one transaction. */
const BATCH = 500

/**
 * Forgets records that were deleted longer ago than `keepMs`: their changes up to the deletion, and their name servers.
 * @returns how many records
 */
export async function sweepHistory(
  database: Database,
  clock: Clock,
  keepMs: number,
  signal: AbortSignal,
): Promise<number> {
  const { dialect } = database
  let total = 0
  for (;;) {
    const forgotten = await database.transaction(async (tx) => {
      const deletions = await tx.all(deletionsBefore(clock.now() - keepMs, BATCH))
      if (deletions.length === 0) return 0
      await tx.run(removeLives(dialect, deletions))
      await tx.run(removeSightings(dialect, deletions))
      return deletions.length
    })
    total += forgotten
    if (forgotten < BATCH || signal.aborted) return total
  }
}

export async function hasOldHistory(database: Database, clock: Clock, keepMs: number): Promise<boolean> {
  return (await database.first(deletionsBefore(clock.now() - keepMs, 1))) !== undefined
}
