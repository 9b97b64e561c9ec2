import type { Clock } from '../../lib/clock.ts'
import type { Vocabulary } from '../../lib/lookalikes/index.ts'
import { partsOf, type Cursor } from '../../storage/database/changes/change.ts'
import type { Database } from '../../storage/database/database.ts'
import type { Query } from '../../storage/database/sql.ts'
import type { DomainEvent } from '../events/event.ts'
import type { EventPage, EventPages } from '../events/pages.ts'
import type { Batching } from './channels/channel.ts'

/** Without events, the cursor is reported after this time, so that it can be stored. */
const IDLE_MS = 60_000

/** What notifiers of both kinds need. */
export interface NotifierContext {
  readonly database: Database
  readonly clock: Clock
  readonly pages: EventPages
  readonly vocabulary: Vocabulary
}

/** Events to report. If there are none and no gap, only the cursor has advanced. */
export interface Notification {
  readonly events: readonly DomainEvent[]
  /** Number of relevant events that were not kept. */
  readonly omitted: number
  /** True if changes were missed. */
  readonly isGap: boolean
  /** Everything up to here is reported or irrelevant. */
  readonly cursor: Cursor
}

export interface NotificationRequest {
  /** Id of the account of the watch, in whose turn changes are read and filtered. */
  readonly account: number
  readonly isRelevant: (event: DomainEvent) => boolean
  /** Maximum number of events. */
  readonly max: number
  /** Which events are dropped beyond the maximum. With `next`, none: they belong to the next notification. */
  readonly beyond: Batching['beyond'] | 'oldest'
  /** Events that follow the first one within this time belong to the same notification. */
  readonly windowMs: number
}

/** Collects the next notification after `from`. Resolves to undefined when `signal` aborts. */
export async function nextNotification(
  pages: EventPages,
  from: Cursor,
  request: NotificationRequest,
  signal: AbortSignal,
): Promise<Notification | undefined> {
  const gathered = new GatheredEvents(from, request)
  let end = performance.now() + IDLE_MS
  for (;;) {
    const step = await pages.next(gathered.cursor, signal, end - performance.now(), request.account)
    switch (step.kind) {
      case 'ended':
        return undefined
      case 'gap':
        return gathered.beforeGap(pages)
      case 'quiet':
        return gathered.notification
      case 'page': {
        const wasEmpty = gathered.isEmpty
        gathered.add(step.page)
        if (wasEmpty && !gathered.isEmpty) end = performance.now() + request.windowMs
        if (gathered.isFull || performance.now() >= end) return gathered.notification
      }
    }
  }
}

/**
 * Collects everything from `from` to the newest change as one notification, or as much as belongs to one. Resolves to undefined
 * when `signal` aborts.
 */
export async function notificationUntilNow(
  pages: EventPages,
  from: Cursor,
  request: NotificationRequest,
  signal: AbortSignal,
): Promise<Notification | undefined> {
  const gathered = new GatheredEvents(from, request)
  const head = await pages.head()
  while (!gathered.isFull && !hasReached(gathered.cursor, head)) {
    const step = await pages.next(gathered.cursor, signal, IDLE_MS, request.account)
    if (step.kind === 'ended') return undefined
    if (step.kind === 'gap') return gathered.beforeGap(pages)
    if (step.kind === 'page') gathered.add(step.page)
  }
  return gathered.notification
}

/** A cursor of another database has not reached anything: its reader meets a gap. */
function hasReached(cursor: Cursor, head: Cursor): boolean {
  const [at, end] = [partsOf(cursor), partsOf(head)]
  return at !== undefined && end !== undefined && at.epoch === end.epoch && at.id >= end.id
}

class GatheredEvents {
  readonly #request: NotificationRequest
  #cursor: Cursor
  #events: DomainEvent[] = []
  #omitted = 0

  constructor(from: Cursor, request: NotificationRequest) {
    this.#cursor = from
    this.#request = request
  }

  get cursor(): Cursor {
    return this.#cursor
  }

  get isEmpty(): boolean {
    return this.#events.length === 0
  }

  /** True if further events belong to the next notification. */
  get isFull(): boolean {
    return this.#request.beyond === 'next' && this.#events.length >= this.#request.max
  }

  get notification(): Notification {
    return { events: this.#events, omitted: this.#omitted, isGap: false, cursor: this.#cursor }
  }

  /** Events before the gap are reported first. The next notification meets the gap again. */
  async beforeGap(pages: EventPages): Promise<Notification> {
    if (!this.isEmpty) return this.notification
    return { events: [], omitted: 0, isGap: true, cursor: await pages.head() }
  }

  add(page: EventPage): void {
    const { beyond, isRelevant, max } = this.#request
    this.#events.push(...page.events.filter(isRelevant))
    this.#cursor = page.cursor
    const excess = this.#events.length - max
    if (excess <= 0) return
    if (beyond === 'oldest') {
      this.#events = this.#events.slice(excess)
      return
    }
    this.#events = this.#events.slice(0, max)
    if (beyond === 'counted') this.#omitted += excess
    else this.#cursor = this.#events.at(-1)?.cursor ?? this.#cursor
  }
}

/** Runs a statement that changes one row, in the turn of an account. Returns false if it changed none. */
export async function writeOne(database: Database, query: Query, account: number): Promise<boolean> {
  return (await database.transaction((tx) => tx.run(query), account)) > 0
}
