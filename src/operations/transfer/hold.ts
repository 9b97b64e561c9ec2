import { systemClock } from '../../lib/clock.ts'
import type { Database } from '../../storage/database/database.ts'
import { beginHold, endHold, prolongHold } from '../../storage/database/transfer-marks.ts'
import { refuse, type Refusal } from './instance.ts'

/**
 * How long the hold of a killed command delays removals. The clocks of the nodes may differ by this minus the renewal interval.
 */
const HOLD_MS = 180_000
const RENEW_HOLD_MS = 30_000

/** Runs `work` while no node removes the bytes of images, so that those of a view of the records stay until they are copied. */
export async function withRemovalsHeld<T>(database: Database, work: () => Promise<T>): Promise<T | Refusal> {
  const until = await beginHold(database, systemClock.now(), systemClock.now() + HOLD_MS)
  if (until !== undefined) {
    const end = new Date(until).toISOString()
    return refuse(
      `another backup or migration is running, or was interrupted: try again, at the latest after ${end}`,
    )
  }
  // A failure is tolerated: the next renewal may succeed, and an image that is removed too early is reported missing.
  const timer = setInterval(
    () => void prolongHold(database, systemClock.now() + HOLD_MS).catch(() => {}),
    RENEW_HOLD_MS,
  )
  try {
    return await work()
  } finally {
    clearInterval(timer)
    await endHold(database).catch(() => {})
  }
}
