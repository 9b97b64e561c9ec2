import { randomBytes } from 'node:crypto'
import { addAbortListener } from 'node:events'
import type { Clock } from '../../lib/clock.ts'
import type { Channel, Delivery, Outcome } from './channels/channel.ts'
import type { DeliverySlots } from './delivery-slots.ts'
import type { DestinationState } from './queries-destinations.ts'
import { secretsAt, type Secrets } from './webhook-secrets.ts'

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
/** How long a delivery may continue during shutdown. It is sent again if it does not finish. */
const STOP_MS = 4_000

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

export interface MeasuredOutcome {
  readonly outcome: Outcome
  readonly ms: number
}

/**
 * Makes one attempt of a delivery when its turn comes. It may continue for a moment after `signal` aborts.
 * @param hasFailed whether the last attempt failed
 * @returns undefined if it was aborted, so it may have arrived: it is sent again with the same id
 */
export async function attempt(
  { clock, slots }: { readonly clock: Clock; readonly slots: DeliverySlots },
  channel: Channel,
  row: Pick<DestinationState, 'id' | 'account_id' | 'address'> & Secrets,
  { id, body }: Pick<Delivery, 'id' | 'body'>,
  hasFailed: boolean,
  signal: AbortSignal,
): Promise<MeasuredOutcome | undefined> {
  const { address } = row
  const owner = { destination: row.id, account: String(row.account_id), host: channel.hostOf(address) }
  const measured = await slots.run(owner, hasFailed, signal, async () => {
    const begin = performance.now()
    const delivery = { id, body, address, secrets: secretsAt(clock.now(), row) }
    const over = new AbortController()
    let timer: NodeJS.Timeout | undefined
    // Removed in the end, because `signal` outlives thousands of attempts.
    using _listener = addAbortListener(signal, () => {
      timer = setTimeout(() => over.abort(), STOP_MS).unref()
    })
    try {
      const outcome = await channel.send(delivery, over.signal)
      return { outcome, ms: performance.now() - begin }
    } finally {
      clearTimeout(timer)
    }
  })
  return measured.outcome.kind === 'failed' && signal.aborted ? undefined : measured
}
