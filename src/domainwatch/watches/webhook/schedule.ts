const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** From each failed attempt to the next: some three days in all (the schedule that Standard Webhooks gives). */
const DELAYS: readonly number[] = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
]
/** Up to so much later, so that those who failed together do not come back together. */
const JITTER = 0.2

/**
 * How long to wait after so many failed attempts; undefined when there is no further one.
 * @param random from 0 to 1
 */
export function delayAfter(attempts: number, random: number): number | undefined {
  const delay = DELAYS[attempts - 1]
  return delay === undefined ? undefined : Math.round(delay * (1 + JITTER * random))
}
