import { parseCursor, type Cursor } from '../storage/database/changes/change.ts'
import type { Database } from '../storage/database/database.ts'
import type { Query } from '../storage/database/sql.ts'
import type { ChangePages, EventPage, LoggedEvent } from './change-pages.ts'
import type { Batching } from './transport.ts'

/** Without events, the cursor is reported after this time, so that it can be stored. */
const IDLE_MS = 60_000

/** Events to report. If there are none and no gap, only the cursor has advanced. */
export interface Notification<E extends LoggedEvent> {
  readonly events: readonly E[]
  /** Number of relevant events that were not kept. */
  readonly omitted: number
  /** True if changes were missed. */
  readonly isGap: boolean
  /** Everything up to here is reported or irrelevant. */
  readonly cursor: Cursor
}

export interface NotificationRequest<E extends LoggedEvent> {
  /** Id of the account of the watch, in whose turn changes are read and filtered. */
  readonly account: number
  readonly isRelevant: (event: E) => boolean
  /** Whether an event may be in one notification with the first one; absent if all may. */
  readonly isAlike?: (first: E, event: E) => boolean
  readonly max: number
  /** Which events are dropped beyond the maximum. With `next`, none: they belong to the next notification. */
  readonly beyond: Batching['beyond'] | 'oldest'
  /** Events that follow the first one within this time belong to the same notification. */
  readonly windowMs: number
}

/**
 * Collects the next notification after `from`: the first events, and those that follow within the window. With `upTo`, collects
 * everything up to there, or as much as belongs to one notification. Resolves to undefined when `signal` aborts.
 */
export async function nextNotification<E extends LoggedEvent>(
  pages: ChangePages<EventPage<E>>,
  from: Cursor,
  { account, isRelevant, isAlike = () => true, max, beyond, windowMs }: NotificationRequest<E>,
  signal: AbortSignal,
  upTo?: Cursor,
): Promise<Notification<E> | undefined> {
  const events: E[] = []
  let omitted = 0
  let most = max
  let cursor = from
  let end = performance.now() + IDLE_MS
  const isFull = () => beyond === 'next' && events.length >= most
  const isOver = () => (upTo === undefined ? performance.now() >= end : hasReached(cursor, upTo))
  while (!isFull() && !isOver()) {
    const waitMs = upTo === undefined ? end - performance.now() : IDLE_MS
    const step = await pages.next(cursor, signal, waitMs, account)
    if (step.kind === 'ended') return undefined
    if (step.kind === 'gap') {
      // Events before the gap are reported first. The next notification meets the gap again.
      if (events.length > 0) break
      return { events, omitted, isGap: true, cursor: await pages.head() }
    }
    if (step.kind !== 'page') continue
    const wasEmpty = events.length === 0
    events.push(...step.page.events.filter(isRelevant))
    cursor = step.page.cursor
    const other = events.findIndex((event) => !isAlike(events[0] ?? event, event))
    if (other > 0) most = Math.min(most, other)
    if (wasEmpty && events.length > 0) end = performance.now() + windowMs
    const excess = events.length - most
    if (excess <= 0) continue
    events.splice(beyond === 'oldest' ? 0 : most, excess)
    if (beyond === 'counted') omitted += excess
    if (beyond === 'next') cursor = events.at(-1)?.cursor ?? cursor
  }
  return { events, omitted, isGap: false, cursor }
}

/** A cursor of another database has not reached anything: its reader meets a gap. */
function hasReached(cursor: Cursor, head: Cursor): boolean {
  const [at, end] = [parseCursor(cursor), parseCursor(head)]
  return at !== undefined && end !== undefined && at.epoch === end.epoch && at.id >= end.id
}

/** Runs a statement that changes one row, in the turn of an account. Returns false if it changed none. */
export async function writeOne(database: Database, query: Query, account: number): Promise<boolean> {
  return (await database.transaction((tx) => tx.run(query), account)) > 0
}
