import { type Clock, InterruptibleSleep } from '../../lib/clock.ts'
import { nextLocalTime } from '../../lib/dates.ts'
import type { Database } from '../../storage/database/database.ts'
import type { Query } from '../../storage/database/sql.ts'
import { attempt, delayAfter, newDeliveryId } from './delivery-attempt.ts'
import type { Channels, Notice, Outcome } from './channels/channel.ts'
import { attemptOf, logDelivery, nextNumber } from './delivery-log.ts'
import type { DeliverySlots } from './delivery-slots.ts'
import {
  nextNotification,
  notificationUntilNow,
  writeOne,
  type Notification,
  type NotifierContext,
} from './notification.ts'
import * as queries from './queries-destinations.ts'
import type { DestinationState } from './queries-destinations.ts'
import { logAttempt, logReplay, nextReplay } from './queries-deliveries.ts'
import { notifiedWatch, watchPredicate } from './watch-filters.ts'

/** How often to compare the time of the next attempt with the system clock, which may be set. */
const CLOCK_CHECK_MS = 250
/** The same while waiting for the hour of a digest, which every destination with one does all day. */
const DIGEST_CHECK_MS = 5_000

export interface DestinationContext extends NotifierContext {
  readonly slots: DeliverySlots
  readonly channels: Channels
  /** Time zone of digest hours. */
  readonly timeZone: string
}

interface PendingDelivery {
  readonly id: string
  readonly body: string
  readonly attempts: number
  readonly nextAt: number
}

/**
 * Delivers the events of one watch to one destination, one delivery at a time, until `signal` aborts, the destination is
 * deleted or given up, its watch is edited or paused, or another process delivers to it. A delivery and its id are stored before the first attempt, and its
 * result before the next delivery.
 */
export async function notifyDestination(
  context: DestinationContext,
  row: DestinationState,
  signal: AbortSignal,
): Promise<void> {
  const { channels, clock, database, pages, timeZone, vocabulary } = context
  const { id, address } = row
  const channel = channels.get(row.channel)
  if (channel === undefined) return
  const watch = notifiedWatch(row)
  const request = { isRelevant: watchPredicate(row, vocabulary), ...channel.batching }
  const write = (query: Query) => writeOne(database, query)
  let { cursor } = row
  let delivery = pendingOf(row)
  if (delivery !== undefined) cursor = row.delivery_cursor ?? cursor
  let digestAt = delivery === undefined ? row.next_at : 0
  while (!signal.aborted) {
    if (delivery === undefined) {
      let found: Notification | undefined
      if (row.digest === null) found = await nextNotification(pages, cursor, request, signal)
      else {
        if (digestAt === 0) {
          digestAt = nextLocalTime(clock.now(), row.digest, timeZone)
          if (!(await write(queries.scheduleDigest(id, digestAt)))) return
        }
        if (!(await waitUntil(digestAt, clock, signal, DIGEST_CHECK_MS))) return
        digestAt = 0
        found = await notificationUntilNow(pages, cursor, { ...request, beyond: 'counted' }, signal)
      }
      if (found === undefined) return
      if (found.events.length === 0 && !found.isGap) {
        if (found.cursor !== cursor && !(await write(queries.advanceCursor(id, cursor, found.cursor)))) return
        cursor = found.cursor
        continue
      }
      const notice: Notice = found.isGap
        ? { kind: 'gap', at: clock.now() }
        : { kind: 'changes', events: found.events, omitted: found.omitted }
      delivery = { id: newDeliveryId(), body: channel.render(watch, notice, address), attempts: 0, nextAt: 0 }
      cursor = found.cursor
      const begun = { ...delivery, cursor, events: found.events.length + found.omitted }
      if (!(await begin(database, row, begun, clock.now()))) return
    }
    if (!(await waitUntil(delivery.nextAt, clock, signal))) return
    const { id: deliveryId, attempts } = delivery
    const attempted = await attempt(context, channel, row, delivery, attempts > 0, signal)
    if (attempted === undefined) return
    const { outcome, ms } = attempted
    const failure = failureOf(outcome, attempts + 1, clock.now())
    const now = clock.now()
    const state = failure === undefined ? 'delivered' : failure.state === 'dead' ? 'failed' : 'pending'
    const isOurs = await database.transaction(async (tx) => {
      const result =
        failure === undefined
          ? queries.delivered(id, deliveryId, now)
          : queries.failed(id, deliveryId, failure)
      if ((await tx.run(result)) === 0) return false
      await tx.run(logAttempt(deliveryId, attemptOf(outcome, state, ms)))
      return true
    })
    if (!isOurs || failure?.state === 'dead') return
    delivery =
      failure === undefined ? undefined : { ...delivery, attempts: failure.attempts, nextAt: failure.nextAt }
  }
}

/**
 * Sends the deliveries of one destination that members want sent again, one at a time, with one attempt each and within the
 * limits of all deliveries. A replay waits in the database until its result is stored, so after a crash it is sent again. If
 * it arrives, deliveries to a receiver that was given up resume.
 */
export async function notifyReplays(
  context: DestinationContext,
  row: DestinationState,
  signal: AbortSignal,
): Promise<void> {
  const { channels, database } = context
  const channel = channels.get(row.channel)
  if (channel === undefined) return
  while (!signal.aborted) {
    const replay = await database.first(nextReplay(row.id))
    if (replay === undefined) return
    const attempted = await attempt(context, channel, row, replay, false, signal)
    if (attempted === undefined) return
    const { outcome, ms } = attempted
    const isDelivered = outcome.kind === 'delivered'
    const result = attemptOf(outcome, isDelivered ? 'delivered' : 'failed', ms)
    if (!(await writeOne(database, logReplay(replay.id, result)))) return
    if (isDelivered) await writeOne(database, queries.revive(row.id))
  }
}

/**
 * Stores the next delivery and records it.
 * @returns false if it must not be sent: the destination was deleted, the watch edited or paused, or it has no valid key
 */
async function begin(
  database: Database,
  row: DestinationState,
  { events, ...delivery }: queries.NewDelivery & { readonly events: number },
  now: number,
): Promise<boolean> {
  const { id: destinationId, watch_id: watchId, channel, version } = row
  return database.transaction(async (tx) => {
    // First, because edits lock the watch before its destinations.
    const number = await nextNumber(tx, watchId, version, now)
    if (number === undefined) return false
    if ((await tx.run(queries.beginDelivery(destinationId, delivery))) === 0) return false
    const { id, body } = delivery
    await logDelivery(tx, { watchId, number, id, destinationId, channel, now, events, body })
    return true
  })
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
async function waitUntil(
  time: number,
  clock: Clock,
  signal: AbortSignal,
  checkMs = CLOCK_CHECK_MS,
): Promise<boolean> {
  const { moved = new InterruptibleSleep() } = clock
  while (clock.now() < time && !signal.aborted) {
    await moved.sleep(Math.min(checkMs, time - clock.now()), signal)
  }
  return !signal.aborted
}
