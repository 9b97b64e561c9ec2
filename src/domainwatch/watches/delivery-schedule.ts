import { randomBytes } from 'node:crypto'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
/** Delay after each failed attempt, three days in total: the schedule of Standard Webhooks. */
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
/** Maximum extension of a delay, so that deliveries that failed together are not retried together. */
const JITTER = 0.2

/**
 * Returns the delay in milliseconds after the given number of failed attempts, or undefined if there is no further attempt.
 * @param random from 0 to 1
 */
export function delayAfter(attempts: number, random: number): number | undefined {
  const delay = DELAYS[attempts - 1]
  return delay === undefined ? undefined : Math.round(delay * (1 + JITTER * random))
}

/** Generates an id that all attempts share. It contains no full stop, which separates the parts that webhooks sign. */
export function newDeliveryId(): string {
  return `msg_${randomBytes(15).toString('base64url')}`
}
