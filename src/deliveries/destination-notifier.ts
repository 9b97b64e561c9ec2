import { type Clock, InterruptibleSleep } from '../lib/clock.ts'
import { nextLocalTime } from '../lib/dates.ts'
import type { Cursor } from '../storage/database/changes/change.ts'
import type { Database, Transaction } from '../storage/database/database.ts'
import {
  attempt,
  delayAfter,
  newDeliveryId,
  type AttemptContext,
  toAttempt,
  logDelivery,
} from './delivery-attempt.ts'
import {
  type ChangePages,
  type EventPage,
  nextNotification,
  writeOne,
  type Notification,
  type NotificationRequest,
} from './change-pages.ts'
import type { LoggedEvent, Notice, Outcome, Transport } from './transport.ts'
import * as queries from './queries.ts'
import { type DestinationState, countDelivery, logAttempt, logReplay, nextReplay } from './queries.ts'

/** How often to compare the time of the next attempt or digest with the system clock, which may be set. */
const CLOCK_CHECK_MS = 1_000
/** Delay after the result of an attempt could not be stored. */
const STORE_RETRY_MS = 1_000

/** What a watch reports to one of its destinations, and how. */
export interface Reports<E extends LoggedEvent, T extends Transport> {
  readonly transport: T
  readonly isRelevant: (event: E) => boolean
  /** Whether an event may be in one delivery with the first one; absent if all may. */
  readonly isAlike?: (first: E, event: E) => boolean
  /** Returns the body of a delivery. */
  readonly render: (notice: Notice<E>) => string
}

export interface DestinationContext<
  E extends LoggedEvent,
  T extends Transport = Transport,
> extends AttemptContext<T> {
  readonly database: Database
  readonly pages: ChangePages<EventPage<E>>
  /** Returns undefined for a destination that cannot be used, such as one of a channel that the operator removed. */
  readonly reportsTo: (row: DestinationState) => Reports<E, T> | undefined
  /** Time zone of digest hours. */
  readonly timeZone: string
  /** Called when the database fails. It is retried. */
  readonly failed: (error: unknown) => void
}

interface PendingDelivery {
  readonly id: string
  readonly body: string
  readonly attempts: number
  readonly nextAt: number
  /** Whether the rest of a digest follows in further deliveries. */
  readonly isPart: boolean
}

/**
 * Delivers the events of one watch to one destination, one delivery at a time, until `signal` aborts, the destination is
 * deleted or given up, its watch is edited or paused, or another process delivers to it. A delivery and its id are stored before the first attempt, and its
 * result before the next delivery.
 */
export async function notifyDestination<E extends LoggedEvent, T extends Transport>(
  context: DestinationContext<E, T>,
  row: DestinationState,
  signal: AbortSignal,
): Promise<void> {
  const { clock, database } = context
  const { id, account_id: account } = row
  const reports = context.reportsTo(row)
  if (reports === undefined) return
  const { render, transport, ...wanted } = reports
  const request = { account, ...wanted, ...transport.batching }
  let { cursor } = row
  let delivery = toPending(transport, row)
  if (delivery !== undefined) cursor = row.delivery_cursor ?? cursor
  let digestAt = delivery === undefined ? row.next_at : 0
  while (!signal.aborted) {
    if (delivery === undefined) {
      const found = await findNext(context, row, request, { cursor, digestAt }, signal)
      if (found === undefined) return
      digestAt = 0
      if (found.events.length === 0 && !found.isGap) {
        const query = queries.advanceCursor(id, cursor, found.cursor)
        if (found.cursor !== cursor && !(await writeOne(database, query, account))) return
        cursor = found.cursor
        continue
      }
      const notice: Notice<E> = found.isGap
        ? { kind: 'gap', at: clock.now() }
        : { kind: 'changes', events: found.events, omitted: found.omitted }
      const body = render(notice)
      const events = found.events.length + found.omitted
      delivery = { id: newDeliveryId(), body, attempts: 0, nextAt: 0, isPart: isPart(transport, row, events) }
      cursor = found.cursor
      const begun = { ...delivery, cursor, events }
      if (!(await begin(database, row, begun, clock.now()))) return
    }
    if (!(await waitUntil(delivery.nextAt, clock, signal))) return
    const { id: deliveryId, attempts, isPart: hasMore } = delivery
    const attempted = await attempt(context, transport, row, delivery, signal)
    if (attempted === undefined) return
    const { outcome, ms } = attempted
    const failure = failureOf(outcome, attempts, clock.now())
    const now = clock.now()
    const digestNextAt = hasMore ? now : 0
    const state = failure === undefined ? 'delivered' : failure.state === 'dead' ? 'failed' : 'pending'
    const isOurs = await storeResult(context, row, signal, async (tx) => {
      const result =
        failure === undefined
          ? queries.delivered(id, deliveryId, now, digestNextAt)
          : queries.failed(id, deliveryId, failure)
      if ((await tx.run(result)) === 0) return false
      if (outcome.kind !== 'held') await tx.run(logAttempt(deliveryId, toAttempt(outcome, state, ms)))
      return true
    })
    if (!isOurs || failure?.state === 'dead') return
    if (failure === undefined) {
      delivery = undefined
      digestAt = digestNextAt
    } else delivery = { ...delivery, attempts: failure.attempts, nextAt: failure.nextAt }
  }
}

/**
 * Collects the next notification after a cursor: as soon as there is one, or at the hour of the digest.
 * @param digestAt when the next digest is due; 0 if it is not scheduled yet
 * @returns undefined if `signal` aborts, or another delivery is pending
 */
async function findNext<E extends LoggedEvent, T extends Transport>(
  { clock, database, pages, timeZone }: DestinationContext<E, T>,
  { id, digest }: DestinationState,
  request: NotificationRequest<E>,
  { cursor, digestAt }: { readonly cursor: Cursor; readonly digestAt: number },
  signal: AbortSignal,
): Promise<Notification<E> | undefined> {
  if (digest === null) return nextNotification(pages, cursor, request, signal)
  // Reports changes that were removed while the last digest was read, instead of a day later with all that follow.
  if (digestAt === 0 && (await pages.next(cursor, signal, 0, request.account)).kind === 'gap')
    return { events: [], omitted: 0, isGap: true, cursor: await pages.head() }
  const dueAt = digestAt === 0 ? nextLocalTime(clock.now(), digest, timeZone) : digestAt
  if (digestAt === 0 && !(await writeOne(database, queries.scheduleDigest(id, dueAt), request.account)))
    return undefined
  if (!(await waitUntil(dueAt, clock, signal))) return undefined
  return nextNotification(pages, cursor, request, signal, await pages.head())
}

/**
 * Sends the deliveries of one destination that members want sent again, one at a time, with one attempt each and within the
 * limits of all deliveries. A replay waits in the database until its result is stored, so after a crash it is sent again. If
 * it arrives, deliveries to a receiver that was given up resume.
 */
export async function notifyReplays<E extends LoggedEvent, T extends Transport>(
  context: DestinationContext<E, T>,
  row: DestinationState,
  signal: AbortSignal,
): Promise<void> {
  const { database } = context
  const transport = context.reportsTo(row)?.transport
  if (transport === undefined) return
  while (!signal.aborted) {
    const replay = await database.first(nextReplay(row.id))
    if (replay === undefined) return
    const attempted = await attempt(context, transport, row, replay, signal)
    if (attempted === undefined) return
    const { outcome, ms } = attempted
    const isDelivered = outcome.kind === 'delivered'
    const result = toAttempt(outcome, isDelivered ? 'delivered' : 'failed', ms)
    const isOurs = await storeResult(context, row, signal, async (tx) => {
      if (isDelivered) await tx.run(queries.revive(row.id))
      return (await tx.run(logReplay(replay.id, result))) > 0
    })
    if (!isOurs) return
  }
}

/**
 * Stores the result of an attempt. Retries until `signal` aborts, because without its result the delivery would be sent again.
 * @throws the error of the last try
 */
async function storeResult<T>(
  { database, failed }: { readonly database: Database; readonly failed: (error: unknown) => void },
  { account_id: account }: DestinationState,
  signal: AbortSignal,
  store: (tx: Transaction) => Promise<T>,
): Promise<T> {
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await database.transaction(store, account)
    } catch (error) {
      if (signal.aborted) throw error
      if (isFirst) failed(error)
    }
    await new InterruptibleSleep().sleep(STORE_RETRY_MS, signal)
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
  const { id: destinationId, account_id: account, watch_id: watchId, channel, version } = row
  return database.transaction(async (tx) => {
    // First, because edits lock the watch before its destinations.
    const counted = await tx.first(countDelivery(watchId, version, now))
    if (counted === undefined) return false
    if ((await tx.run(queries.beginDelivery(destinationId, delivery))) === 0) return false
    const { id, body } = delivery
    await logDelivery(tx, {
      watchId,
      number: counted.deliveries,
      id,
      destinationId,
      channel,
      now,
      events,
      body,
    })
    return true
  }, account)
}

function toPending(transport: Transport, row: DestinationState): PendingDelivery | undefined {
  const { delivery_id: id, delivery_body: body, delivery_events: events, attempts, next_at: nextAt } = row
  if (id === null || body === null) return undefined
  return { id, body, attempts, nextAt, isPart: isPart(transport, row, events ?? 0) }
}

/** A channel whose messages leave nothing out splits a long digest into several. */
const isPart = ({ batching }: Transport, { digest }: DestinationState, events: number): boolean =>
  digest !== null && batching.beyond === 'next' && events >= batching.max

/**
 * Returns undefined for a successful delivery.
 * @param failed the number of attempts that failed before
 */
function failureOf(outcome: Outcome, failed: number, now: number): queries.Failure | undefined {
  if (outcome.kind === 'delivered') return undefined
  const { error } = outcome
  if (outcome.kind === 'held') return { state: 'active', attempts: failed, nextAt: outcome.until, error, now }
  const attempts = failed + 1
  const delay = outcome.kind === 'gone' ? undefined : delayAfter(attempts, Math.random())
  if (outcome.kind === 'gone' || delay === undefined)
    return { state: 'dead', attempts, nextAt: 0, error, now }
  return { state: 'active', attempts, nextAt: now + Math.max(delay, outcome.retryAfterMs), error, now }
}

/** Resolves to true at `time` of the clock, or to false when `signal` aborts. */
export async function waitUntil(time: number, clock: Clock, signal: AbortSignal): Promise<boolean> {
  const { moved = new InterruptibleSleep() } = clock
  while (clock.now() < time && !signal.aborted) {
    await moved.sleep(Math.min(CLOCK_CHECK_MS, time - clock.now()), signal)
  }
  return !signal.aborted
}
