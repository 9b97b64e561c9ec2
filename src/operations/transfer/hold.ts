import type { Clock } from '../../lib/clock.ts'
import type { Database } from '../../storage/database/database.ts'
import { beginHold, endHold, prolongHold } from '../../storage/database/transfer-marks.ts'

/**
 * A backup that died holds off removals for this long. The clocks of the nodes may differ by less than the time between
 * two prolongations and this.
 */
const HOLD_MS = 180_000
const PROLONG_MS = 30_000

export type HeldOutcome<T> =
  | { readonly kind: 'done'; readonly value: T }
  /** Another backup of the same instance is under way, or was killed: until then, milliseconds since 1970. */
  | { readonly kind: 'busy'; readonly until: number }

/** Runs `work` while nobody removes the bytes of images. */
export async function holding<T>(
  database: Database,
  clock: Clock,
  work: () => Promise<T>,
): Promise<HeldOutcome<T>> {
  const until = await beginHold(database, clock.now(), clock.now() + HOLD_MS)
  if (until !== undefined) return { kind: 'busy', until }
  // Should it fail, the next one may not; should all, what is removed too early is found missing.
  const timer = setInterval(
    () => void prolongHold(database, clock.now() + HOLD_MS).catch(() => {}),
    PROLONG_MS,
  )
  try {
    return { kind: 'done', value: await work() }
  } finally {
    clearInterval(timer)
    await endHold(database).catch(() => {})
  }
}
