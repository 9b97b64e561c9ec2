import { InterruptibleSleep } from '../../lib/interruptible-sleep.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Cursor } from '../../storage/database/changes/change.ts'
import type { Database } from '../../storage/database/database.ts'
import type { Query } from '../../storage/database/sql.ts'
import type { EventPages } from '../events/pages.ts'
import { collect } from './collect.ts'
import type { Vocabulary } from '../../lib/lookalikes/index.ts'
import type { DeliverySlots } from './delivery-slots.ts'
import { changesPayload, gapPayload, MAX_EVENTS } from './payload.ts'
import * as queries from './queries.ts'
import type { TellingRow } from './queries.ts'
import { watcherOf } from './watched.ts'
import { delayAfter } from './webhook/schedule.ts'
import type { Outcome, Send } from './webhook/send.ts'
import { newWebhookId } from './webhook/sign.ts'

/** Until the next look at the clock, which may be set. */
const LOOK_MS = 250
/** From the order to stop until a delivery under way is given up, which then is sent again. */
const STOP_MS = 4_000

export interface Telling {
  readonly database: Database
  readonly clock: Clock
  readonly pages: EventPages
  readonly slots: DeliverySlots
  readonly send: Send
  readonly vocabulary: Vocabulary
}

interface Delivery {
  readonly id: string
  readonly body: string
  readonly attempts: number
  readonly nextAt: number
}

/**
 * Tells one watch's receiver of what concerns it, one delivery after the other, until `signal` aborts or there is nothing
 * more to do: it is deleted, was given up, or somebody else is at it. What is sent is stored first and has its id from
 * then on; that it has arrived is stored before the next one is made.
 */
export async function tellByWebhook(parts: Telling, row: TellingRow, signal: AbortSignal): Promise<void> {
  const { id, account_id, url, secret } = row
  if (url === null || secret === null) return
  const owner = { watch: id, account: String(account_id), url }
  const isAbout = watcherOf(row, parts.vocabulary)
  const write = (query: Query) => writeOne(parts.database, query)
  let cursor = row.cursor ?? (await parts.pages.head())
  let delivery = deliveryOf(row)
  if (delivery !== undefined) cursor = row.delivery_cursor ?? cursor
  while (!signal.aborted) {
    if (delivery === undefined) {
      const wanted = { isAbout, max: MAX_EVENTS, keep: 'first' } as const
      const found = await collect(parts.pages, asCursor(cursor), wanted, signal)
      if (found === undefined) return
      if (found.events.length === 0 && !found.isGap) {
        if (found.cursor !== cursor && !(await write(queries.moveCursor(id, found.cursor)))) return
        cursor = found.cursor
        continue
      }
      const body = found.isGap ? gapPayload(row, parts.clock.now()) : changesPayload(row, found.events)
      delivery = { id: newWebhookId(), body, attempts: 0, nextAt: 0 }
      cursor = found.cursor
      const next = { id: delivery.id, body, cursor }
      if (!(await write(queries.beginDelivery(id, next, parts.clock.now())))) return
    }
    if (!(await comes(delivery.nextAt, parts.clock, signal))) return
    const { id: webhook, body, attempts } = delivery
    const outcome = await parts.slots.run(owner, attempts > 0, signal, () =>
      parts.send({ id: webhook, body, url, secret }, soonAfter(signal)),
    )
    // Cut off by the shutdown: whether it arrived is unknown, so it is sent again, with the same id.
    if (outcome.kind === 'failed' && signal.aborted) return
    const failure = failureOf(outcome, attempts + 1, parts.clock.now())
    const now = parts.clock.now()
    const isOurs = await write(
      failure === undefined ? queries.delivered(id, webhook, now) : queries.failed(id, webhook, failure),
    )
    if (!isOurs || failure?.state === 'dead') return
    delivery =
      failure === undefined ? undefined : { ...delivery, attempts: failure.attempts, nextAt: failure.nextAt }
  }
}

function deliveryOf({ delivery_id, delivery_body, attempts, next_at }: TellingRow): Delivery | undefined {
  if (delivery_id === null || delivery_body === null) return undefined
  return { id: delivery_id, body: delivery_body, attempts, nextAt: next_at }
}

/** What was stored as a cursor is one. */
export function asCursor(text: string): Cursor {
  return text as Cursor
}

/** Undefined where it was none. */
function failureOf(outcome: Outcome, attempts: number, now: number): queries.Failure | undefined {
  if (outcome.kind === 'delivered') return undefined
  const { error } = outcome
  const delay = outcome.kind === 'gone' ? undefined : delayAfter(attempts, Math.random())
  if (outcome.kind === 'gone' || delay === undefined)
    return { state: 'dead', attempts, nextAt: 0, error, now }
  return { state: 'active', attempts, nextAt: now + Math.max(delay, outcome.retryAfterMs), error, now }
}

/** @returns whether the moment has come; false when `signal` aborted before */
async function comes(moment: number, clock: Clock, signal: AbortSignal): Promise<boolean> {
  const { moved = new InterruptibleSleep() } = clock
  while (clock.now() < moment && !signal.aborted) {
    await moved.sleep(Math.min(LOOK_MS, moment - clock.now()), signal)
  }
  return !signal.aborted
}

/** A signal that leaves what is under way a moment to end. */
function soonAfter(signal: AbortSignal): AbortSignal {
  const soon = new AbortController()
  signal.addEventListener('abort', () => setTimeout(() => soon.abort(), STOP_MS).unref(), { once: true })
  return soon.signal
}

export async function writeOne(database: Database, query: Query): Promise<boolean> {
  return (await database.transaction((tx) => tx.run(query))) > 0
}
