import type { Channel, Delivery, Outcome } from './channels/channel.ts'

/** How long a delivery may continue during shutdown. It is sent again if it does not finish. */
const STOP_MS = 4_000

export interface MeasuredOutcome {
  readonly outcome: Outcome
  readonly ms: number
}

/** Makes one attempt of a delivery. It may continue for a moment after `signal` aborts. */
export async function attempt(
  channel: Channel,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<MeasuredOutcome> {
  const begin = performance.now()
  const outcome = await channel.send(delivery, afterGrace(signal))
  return { outcome, ms: performance.now() - begin }
}

/** Returns a signal that aborts `STOP_MS` after the given one. */
function afterGrace(signal: AbortSignal): AbortSignal {
  const delayed = new AbortController()
  signal.addEventListener('abort', () => setTimeout(() => delayed.abort(), STOP_MS).unref(), { once: true })
  return delayed.signal
}
