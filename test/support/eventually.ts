import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'

/** Far longer than anything takes, for machines that do other things as well. */
const TIMEOUT_MS = 60_000
const LOOK_MS = 5

/**
 * Looks again and again until something is so.
 * @param what names it, or shows what is there instead
 */
export async function eventually(
  isSo: () => boolean | Promise<boolean>,
  what: string | (() => string) = 'what was waited for',
): Promise<void> {
  const late = performance.now() + TIMEOUT_MS
  while (!(await isSo())) {
    assert.ok(performance.now() < late, `not in time: ${typeof what === 'string' ? what : what()}`)
    await pause(LOOK_MS)
  }
}
