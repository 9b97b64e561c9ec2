import type { Clock } from '../../lib/clock.ts'
import { InterruptibleSleep } from '../../lib/interruptible-sleep.ts'
import type { Query } from '../../storage/database/sql.ts'
import type { Channels, NotifiedWatch, Notice, Outcome } from './channels/channel.ts'
import { delayAfter, newDeliveryId } from './delivery-schedule.ts'
import type { DeliverySlots } from './delivery-slots.ts'
import { nextNotification, writeOne, type NotifierContext } from './notification.ts'
import * as queries from './queries-destinations.ts'
import type { DestinationState } from './queries-destinations.ts'
import { watcherOf } from './watched.ts'

/** How often to compare the time of the next attempt with the system clock, which may be set. */
const CLOCK_CHECK_MS = 250
/** How long a delivery may continue during shutdown. It is sent again if it does not finish. */
const STOP_MS = 4_000

export interface DestinationContext extends NotifierContext {
  readonly slots: DeliverySlots
  readonly channels: Channels
}

interface PendingDelivery {
  readonly id: string
  readonly body: string
  readonly attempts: number
  readonly nextAt: number
}

/**
 * Delivers the events of one watch to one destination, one delivery at a time, until `signal` aborts, the destination is
 * deleted or given up, or another process delivers to it. A delivery and its id are stored before the first attempt, and its
 * result before the next delivery.
 */
export async function notifyDestination(
  context: DestinationContext,
  row: DestinationState,
  signal: AbortSignal,
): Promise<void> {
  const { channels, clock, database, pages, slots, vocabulary } = context
  const { id, address, secret } = row
  const channel = channels.get(row.channel)
  if (channel === undefined) return
  const watch: NotifiedWatch = { id: row.watch_id, name: row.name }
  const owner = { destination: id, account: String(row.account_id), host: channel.hostOf(address) }
  const request = { isRelevant: watcherOf(row, vocabulary), max: channel.maxEvents, keep: 'first' } as const
  const write = (query: Query) => writeOne(database, query)
  let { cursor } = row
  let delivery = pendingOf(row)
  if (delivery !== undefined) cursor = row.delivery_cursor ?? cursor
  while (!signal.aborted) {
    if (delivery === undefined) {
      const found = await nextNotification(pages, cursor, request, signal)
      if (found === undefined) return
      if (found.events.length === 0 && !found.isGap) {
        if (found.cursor !== cursor && !(await write(queries.advanceCursor(id, found.cursor)))) return
        cursor = found.cursor
        continue
      }
      const notice: Notice = found.isGap
        ? { kind: 'gap', at: clock.now() }
        : { kind: 'changes', events: found.events }
      delivery = { id: newDeliveryId(), body: channel.render(watch, notice), attempts: 0, nextAt: 0 }
      cursor = found.cursor
      const next = { id: delivery.id, body: delivery.body, cursor }
      if (!(await write(queries.beginDelivery(id, next, clock.now())))) return
    }
    if (!(await waitUntil(delivery.nextAt, clock, signal))) return
    const { id: deliveryId, body, attempts } = delivery
    const outcome = await slots.run(owner, attempts > 0, signal, () =>
      channel.send({ id: deliveryId, body, address, secret }, afterGrace(signal)),
    )
    // Aborted by the shutdown, so it may have arrived: it is sent again with the same id.
    if (outcome.kind === 'failed' && signal.aborted) return
    const failure = failureOf(outcome, attempts + 1, clock.now())
    const now = clock.now()
    const isOurs = await write(
      failure === undefined
        ? queries.delivered(id, deliveryId, now)
        : queries.failed(id, deliveryId, failure),
    )
    if (!isOurs || failure?.state === 'dead') return
    delivery =
      failure === undefined ? undefined : { ...delivery, attempts: failure.attempts, nextAt: failure.nextAt }
  }
}

function pendingOf(row: DestinationState): PendingDelivery | undefined {
  const { delivery_id, delivery_body, attempts, next_at } = row
  if (delivery_id === null || delivery_body === null) return undefined
  return { id: delivery_id, body: delivery_body, attempts, nextAt: next_at }
}

/** Returns undefined for a successful delivery. */
function failureOf(outcome: Outcome, attempts: number, now: number): queries.Failure | undefined {
  if (outcome.kind === 'delivered') return undefined
  const { error } = outcome
  const delay = outcome.kind === 'gone' ? undefined : delayAfter(attempts, Math.random())
  if (outcome.kind === 'gone' || delay === undefined)
    return { state: 'dead', attempts, nextAt: 0, error, now }
  return { state: 'active', attempts, nextAt: now + Math.max(delay, outcome.retryAfterMs), error, now }
}

/** Resolves to true at `time` of the clock, or to false when `signal` aborts. */
async function waitUntil(time: number, clock: Clock, signal: AbortSignal): Promise<boolean> {
  const { moved = new InterruptibleSleep() } = clock
  while (clock.now() < time && !signal.aborted) {
    await moved.sleep(Math.min(CLOCK_CHECK_MS, time - clock.now()), signal)
  }
  return !signal.aborted
}

/** Returns a signal that aborts `STOP_MS` after the given one. */
function afterGrace(signal: AbortSignal): AbortSignal {
  const delayed = new AbortController()
  signal.addEventListener('abort', () => setTimeout(() => delayed.abort(), STOP_MS).unref(), { once: true })
  return delayed.signal
}
