import { ChangePages, eventsAfter, type EventPage } from '../../deliveries/change-pages.ts'
import type { ChangeLog } from '../../storage/database/changes/change-log.ts'
import type { Change, Cursor } from '../../storage/database/changes/change.ts'
import type { Filters } from '../filters.ts'
import { concerns, eventOf, toJson, type ChangeReading, type Changes, type DomainEvent } from './event.ts'

/** Distinct filters per page whose serialised text is cached. A text may be as large as its page. */
const MAX_CACHED_TEXTS = 16

interface DomainPage extends EventPage<DomainEvent> {
  /** True if a key was created or revoked. */
  readonly touchesKeys: boolean
  /** Returns the events that concern the filters as server-sent events, or undefined if there are none. Cached per key. */
  text(changes: Changes, filters: Filters, key: string): Buffer | undefined
}

/** The changes of records and of their DNS. */
export type EventPages = ChangePages<DomainPage>

/** @param failed called for the first of several consecutive failed reads, which are retried */
export function openEventPages(
  log: ChangeLog,
  reading: ChangeReading,
  failed: (error: unknown) => void,
): EventPages {
  const pages = {
    async toPage(after: Cursor, cursor: Cursor, changes: readonly Change[]) {
      // Read after the changes, so that no rule that precedes one is missing.
      const { hides } = await reading.rules.current()
      const events: DomainEvent[] = []
      for (const change of changes) {
        const event = await eventOf(change, reading, hides)
        if (event !== undefined) events.push(event)
      }
      return pageOf(
        after,
        cursor,
        events,
        changes.some(({ topic }) => topic === 'key'),
      )
    },
    withoutRead: ({ cursor, events, touchesKeys }: DomainPage, after: Cursor) =>
      pageOf(after, cursor, eventsAfter(events, after), touchesKeys),
  }
  return new ChangePages(log, pages, failed)
}

function pageOf(
  after: Cursor,
  cursor: Cursor,
  events: readonly DomainEvent[],
  touchesKeys: boolean,
): DomainPage {
  const texts = new Map<string, Buffer | undefined>()
  const textOf = (changes: Changes, filters: Filters) => {
    const text = events.filter((event) => concerns(changes, filters, event)).map(frame)
    return text.length === 0 ? undefined : Buffer.from(text.join(''))
  }
  return {
    after,
    cursor,
    events,
    touchesKeys,
    text(changes, filters, key) {
      if (texts.has(key)) return texts.get(key)
      const text = textOf(changes, filters)
      if (texts.size < MAX_CACHED_TEXTS) texts.set(key, text)
      return text
    },
  }
}

/** Readers with different filters share the texts of events. */
const frames = new WeakMap<DomainEvent, string>()

function frame(event: DomainEvent): string {
  let text = frames.get(event)
  if (text === undefined) {
    text = `id: ${event.cursor}\nevent: ${event.kind}\ndata: ${toJson(event)}\n\n`
    frames.set(event, text)
  }
  return text
}
