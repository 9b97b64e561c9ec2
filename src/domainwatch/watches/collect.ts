import type { Cursor } from '../../storage/database/changes/change.ts'
import type { DomainEvent } from '../events/event.ts'
import type { EventPages } from '../events/pages.ts'

/** After the first event, what comes so soon is told together with it. */
const LINGER_MS = 200
/** When somebody who found nothing may keep where it is. */
const QUIET_MS = 60_000

/** `gap`: changes were missed. Without either, nothing was found up to `cursor`, for a while. */
export interface Collected {
  readonly events: readonly DomainEvent[]
  readonly isGap: boolean
  /** All up to here is in it, or of no concern. */
  readonly cursor: Cursor
}

export interface Wanted {
  readonly isAbout: (event: DomainEvent) => boolean
  /** The most that are collected; of more the first ones, or the last ones where only those matter. */
  readonly max: number
  readonly keep: 'first' | 'last'
}

/** What a watch has to tell of after `from`, as soon as there is something; undefined when `signal` says to end. */
export async function collect(
  pages: EventPages,
  from: Cursor,
  { isAbout, max, keep }: Wanted,
  signal: AbortSignal,
): Promise<Collected | undefined> {
  let cursor = from
  let events: DomainEvent[] = []
  let end = performance.now() + QUIET_MS
  for (;;) {
    const step = await pages.next(cursor, signal, end - performance.now())
    switch (step.kind) {
      case 'ended':
        return undefined
      case 'gap':
        // What was found before it comes first, and the gap again at the next time.
        if (events.length > 0) return { events, isGap: false, cursor }
        return { events: [], isGap: true, cursor: await pages.head() }
      case 'quiet':
        return { events, isGap: false, cursor }
      case 'page': {
        const found = step.page.events.filter(isAbout)
        if (found.length > 0 && events.length === 0) end = performance.now() + LINGER_MS
        events.push(...found)
        cursor = step.page.cursor
        if (keep === 'last') events = events.slice(-max)
        else if (events.length >= max) {
          const kept = events.slice(0, max)
          return { events: kept, isGap: false, cursor: kept.length === events.length ? cursor : lastOf(kept) }
        }
        if (performance.now() >= end) return { events, isGap: false, cursor }
      }
    }
  }
}

function lastOf(events: readonly DomainEvent[]): Cursor {
  const last = events.at(-1)
  if (last === undefined) throw new Error('nothing was collected')
  return last.cursor
}
