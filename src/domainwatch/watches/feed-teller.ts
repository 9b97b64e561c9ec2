import { entryOf, type AtomEntry } from '../events/atom.ts'
import { collect } from './collect.ts'
import * as queries from './queries.ts'
import type { TellingRow } from './queries.ts'
import { watcherOf } from './watched.ts'
import { asCursor, writeOne, type Telling } from './webhook-teller.ts'

/** Entries that a feed keeps. */
const MAX_ENTRIES = 50

/** Keeps one watch's feed, until `signal` aborts or it is deleted. */
export async function tellByFeed(
  { database, pages, clock, vocabulary }: Pick<Telling, 'database' | 'pages' | 'clock' | 'vocabulary'>,
  row: TellingRow,
  signal: AbortSignal,
): Promise<void> {
  const isAbout = watcherOf(row, vocabulary)
  let entries: readonly AtomEntry[] = entriesOf(row.feed)
  let cursor = row.feed_cursor ?? (await pages.head())
  while (!signal.aborted) {
    const wanted = { isAbout, max: MAX_ENTRIES, keep: 'last' } as const
    const found = await collect(pages, asCursor(cursor), wanted, signal)
    if (found === undefined) return
    if (found.cursor === cursor) continue
    const news = found.isGap
      ? [gapEntry(row.id, found.cursor, clock.now())]
      : found.events.map(entryOf).reverse()
    entries = [...news, ...entries].slice(0, MAX_ENTRIES)
    cursor = found.cursor
    if (!(await writeOne(database, queries.storeFeed(row.id, JSON.stringify(entries), cursor)))) return
  }
}

export function entriesOf(feed: string | null): readonly AtomEntry[] {
  const entries: readonly AtomEntry[] = JSON.parse(feed ?? '[]')
  return entries
}

function gapEntry(id: string, cursor: string, now: number): AtomEntry {
  return {
    id: `${id} ${cursor}`,
    title: 'Pueden faltar cambios anteriores',
    updated: new Date(now).toISOString(),
    author: 'Catalejo',
    text: 'Hubo cambios que ya no están disponibles: vuelva a leer la lista.',
  }
}
