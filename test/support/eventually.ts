import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'

/** Far longer than anything takes, for machines that do other things as well. */
const TIMEOUT_MS = 60_000
const FIRST_LOOK_MS = 2
/** The longer something takes, the rarer it is looked at: a look may be a request. */
const SLOWER = 1.2
const MAX_LOOK_MS = 50

/**
 * Looks again and again until something is so.
 * @param what names it, or shows what is there instead
 */
export async function eventually(
  isSo: () => boolean | Promise<boolean>,
  what: string | (() => string) = 'what was waited for',
): Promise<void> {
  const late = performance.now() + TIMEOUT_MS
  for (let lookMs = FIRST_LOOK_MS; !(await isSo()); lookMs = Math.min(SLOWER * lookMs, MAX_LOOK_MS)) {
    assert.ok(performance.now() < late, `not in time: ${typeof what === 'string' ? what : what()}`)
    await pause(lookMs)
  }
}
