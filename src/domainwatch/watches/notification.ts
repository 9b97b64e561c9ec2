import type { Clock } from '../../lib/clock.ts'
import type { Vocabulary } from '../../lib/lookalikes/index.ts'
import type { Cursor } from '../../storage/database/changes/change.ts'
import type { Database } from '../../storage/database/database.ts'
import type { Query } from '../../storage/database/sql.ts'
import type { DomainEvent } from '../events/event.ts'
import type { EventPages } from '../events/pages.ts'

/** Events that follow the first one within this time belong to the same notification. */
const BATCH_MS = 200
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
  /** True if changes were missed. */
  readonly isGap: boolean
  /** Everything up to here is reported or irrelevant. */
  readonly cursor: Cursor
}

export interface NotificationRequest {
  readonly isRelevant: (event: DomainEvent) => boolean
  /** Maximum number of events. */
  readonly max: number
  /** Which events to keep beyond the maximum. With `first`, the rest belongs to the next notification. */
  readonly keep: 'first' | 'last'
}

/** Collects the next notification after `from`. Resolves to undefined when `signal` aborts. */
export async function nextNotification(
  pages: EventPages,
  from: Cursor,
  { isRelevant, max, keep }: NotificationRequest,
  signal: AbortSignal,
): Promise<Notification | undefined> {
  let cursor = from
  let events: DomainEvent[] = []
  let end = performance.now() + IDLE_MS
  for (;;) {
    const step = await pages.next(cursor, signal, end - performance.now())
    switch (step.kind) {
      case 'ended':
        return undefined
      case 'gap':
        // Events before the gap are reported first. The next call meets the gap again.
        if (events.length > 0) return { events, isGap: false, cursor }
        return { events: [], isGap: true, cursor: await pages.head() }
      case 'quiet':
        return { events, isGap: false, cursor }
      case 'page': {
        const found = step.page.events.filter(isRelevant)
        if (found.length > 0 && events.length === 0) end = performance.now() + BATCH_MS
        events.push(...found)
        cursor = step.page.cursor
        if (keep === 'last') events = events.slice(-max)
        else if (events.length >= max) {
          const isCut = events.length > max
          events = events.slice(0, max)
          return { events, isGap: false, cursor: isCut ? (events.at(-1)?.cursor ?? cursor) : cursor }
        }
        if (performance.now() >= end) return { events, isGap: false, cursor }
      }
    }
  }
}

/** Runs a statement that changes one row. Returns false if it changed none. */
export async function writeOne(database: Database, query: Query): Promise<boolean> {
  return (await database.transaction((tx) => tx.run(query))) > 0
}
