import type { Clock } from '../../lib/clock.ts'
import { InterruptibleSleep } from '../../lib/interruptible-sleep.ts'
import type { Query } from '../../storage/database/sql.ts'
import { toJson, type DomainEvent } from '../events/event.ts'
import type { DeliverySlots } from './delivery-slots.ts'
import { nextNotification, writeOne, type NotifierContext } from './notification.ts'
import * as queries from './queries.ts'
import type { WatchState } from './queries.ts'
import { watcherOf } from './watched.ts'
import { delayAfter, newWebhookId, type Outcome, type Send } from './webhook/send.ts'

/** Events per delivery: about 20 KB, as Standard Webhooks recommends. */
const MAX_EVENTS = 50
/** How often to compare the time of the next attempt with the system clock, which may be set. */
const CLOCK_CHECK_MS = 250
/** How long a delivery may continue during shutdown. It is sent again if it does not finish. */
const STOP_MS = 4_000

export interface WebhookContext extends NotifierContext {
  readonly slots: DeliverySlots
  readonly send: Send
}

interface Delivery {
  readonly id: string
  readonly body: string
  readonly attempts: number
  readonly nextAt: number
}

/**
 * Delivers the events of one watch to its receiver, one delivery at a time, until `signal` aborts, the watch is deleted or
 * given up, or another process delivers for it. A delivery and its id are stored before the first attempt, and its result
 * before the next delivery.
 */
export async function notifyByWebhook(
  context: WebhookContext,
  row: WatchState,
  signal: AbortSignal,
): Promise<void> {
  const { clock, database, pages, slots, send, vocabulary } = context
  const { id, account_id, url, secret } = row
  if (url === null || secret === null) return
  const owner = { watch: id, account: String(account_id), url }
  const request = { isRelevant: watcherOf(row, vocabulary), max: MAX_EVENTS, keep: 'first' } as const
  const write = (query: Query) => writeOne(database, query)
  let cursor = row.cursor ?? (await pages.head())
  let delivery = deliveryOf(row)
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
      const body = found.isGap ? gapPayload(row, clock.now()) : changesPayload(row, found.events)
      delivery = { id: newWebhookId(), body, attempts: 0, nextAt: 0 }
      cursor = found.cursor
      const next = { id: delivery.id, body, cursor }
      if (!(await write(queries.beginDelivery(id, next, clock.now())))) return
    }
    if (!(await waitUntil(delivery.nextAt, clock, signal))) return
    const { id: webhook, body, attempts } = delivery
    const outcome = await slots.run(owner, attempts > 0, signal, () =>
      send({ id: webhook, body, url, secret }, afterGrace(signal)),
    )
    // Aborted by the shutdown, so it may have arrived: it is sent again with the same id.
    if (outcome.kind === 'failed' && signal.aborted) return
    const failure = failureOf(outcome, attempts + 1, clock.now())
    const now = clock.now()
    const isOurs = await write(
      failure === undefined ? queries.delivered(id, webhook, now) : queries.failed(id, webhook, failure),
    )
    if (!isOurs || failure?.state === 'dead') return
    delivery =
      failure === undefined ? undefined : { ...delivery, attempts: failure.attempts, nextAt: failure.nextAt }
  }
}

function deliveryOf({ delivery_id, delivery_body, attempts, next_at }: WatchState): Delivery | undefined {
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

type WatchName = Pick<WatchState, 'id' | 'name'>

/** Serialises events as in event streams. The timestamp is that of the newest one. */
function changesPayload({ id, name }: WatchName, events: readonly DomainEvent[]): string {
  const timestamp = new Date(Math.max(...events.map(({ at }) => at))).toISOString()
  const watch = JSON.stringify({ id, name })
  const changes = events.map(toJson).join(',')
  return (
    `{"type":"domains.changed","timestamp":"${timestamp}",` +
    `"data":{"watch":${watch},"count":${events.length},"changes":[${changes}]}}`
  )
}

/** Returns the payload that reports missed changes. */
function gapPayload(watch: WatchName, now: number): string {
  return messagePayload('domains.gap', watch, 'Pueden faltar cambios anteriores: vuelva a leer la lista', now)
}

export function testPayload(watch: WatchName, now: number): string {
  return messagePayload('watch.test', watch, 'Prueba del aviso', now)
}

function messagePayload(type: string, { id, name }: WatchName, msg: string, now: number): string {
  const timestamp = new Date(now).toISOString()
  return JSON.stringify({ type, timestamp, data: { watch: { id, name }, msg } })
}
