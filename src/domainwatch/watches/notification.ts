import type { Clock } from '../../lib/clock.ts'
import type { Vocabulary } from '../../lib/lookalikes/index.ts'
import { parseCursor, type Cursor } from '../../storage/database/changes/change.ts'
import type { Database } from '../../storage/database/database.ts'
import type { Query } from '../../storage/database/sql.ts'
import type { DomainEvent } from '../events/event.ts'
import type { EventPages } from '../events/pages.ts'
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

/**
 * Collects the next notification after `from`: the first events, and those that follow within the window. With `upTo`, collects
 * everything up to there, or as much as belongs to one notification. Resolves to undefined when `signal` aborts.
 */
export async function nextNotification(
  pages: EventPages,
  from: Cursor,
  { account, isRelevant, max, beyond, windowMs }: NotificationRequest,
  signal: AbortSignal,
  upTo?: Cursor,
): Promise<Notification | undefined> {
  const events: DomainEvent[] = []
  let omitted = 0
  let cursor = from
  let end = performance.now() + IDLE_MS
  const isFull = () => beyond === 'next' && events.length >= max
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
    if (wasEmpty && events.length > 0) end = performance.now() + windowMs
    const excess = events.length - max
    if (excess <= 0) continue
    events.splice(beyond === 'oldest' ? 0 : max, excess)
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
