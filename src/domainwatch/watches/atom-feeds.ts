import { nextNotification, writeOne } from '../../deliveries/change-pages.ts'
import type { Work } from '../../deliveries/notifiers.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Vocabulary } from '../../lib/lookalikes/index.ts'
import type { Database } from '../../storage/database/database.ts'
import { entryOf, gapEntry, type AtomEntry } from '../events/atom.ts'
import type { EventPages } from '../events/index.ts'
import { languageOf } from '../texts.ts'
import * as queries from './queries.ts'
import { readWatch } from './watch-filters.ts'

/** Entries that an Atom feed keeps. */
const MAX_ENTRIES = 50
const WINDOW_MS = 200

interface AtomFeedsContext {
  readonly database: Database
  readonly clock: Clock
  readonly pages: EventPages
  readonly vocabulary: Vocabulary
}

/** Returns the work of maintaining all Atom feeds, by name. */
export async function atomFeedWork(context: AtomFeedsContext, now: number): Promise<[string, Work][]> {
  const { database } = context
  return (await database.all(queries.atomFeedsToNotify(now))).map(({ id, version }) => {
    const notify = async (signal: AbortSignal) => {
      const row = await database.first(queries.atomFeedById(id))
      if (row !== undefined) await notifyAtomFeed(context, row, signal)
    }
    return [`feed ${id}`, { version: String(version), notify }]
  })
}

/** Maintains the Atom feed of one watch until `signal` aborts or the watch is edited, paused or deleted. */
async function notifyAtomFeed(
  { database, pages, clock, vocabulary }: AtomFeedsContext,
  row: queries.AtomFeedState,
  signal: AbortSignal,
): Promise<void> {
  const { isRelevant, findBrand } = readWatch(row, vocabulary)
  const request = {
    account: row.account_id,
    isRelevant,
    max: MAX_ENTRIES,
    beyond: 'oldest',
    windowMs: WINDOW_MS,
  } as const
  const language = languageOf(row.language)
  let entries: readonly AtomEntry[] = toEntries(row.feed)
  let cursor = row.feed_cursor ?? (await pages.head())
  while (!signal.aborted) {
    const found = await nextNotification(pages, cursor, request, signal)
    if (found === undefined) return
    if (found.cursor === cursor) continue
    const added = found.isGap
      ? [gapEntry(`${row.id} ${found.cursor}`, clock.now(), language)]
      : found.events.map((event) => entryOf(event, language, findBrand)).reverse()
    entries = [...added, ...entries].slice(0, MAX_ENTRIES)
    cursor = found.cursor
    const stored = queries.storeAtomFeed(row.id, row.version, JSON.stringify(entries), cursor)
    if (!(await writeOne(database, stored, row.account_id))) return
  }
}

/** Parses the stored entries of an Atom feed. */
export function toEntries(feed: string | null): readonly AtomEntry[] {
  const entries: readonly AtomEntry[] = JSON.parse(feed ?? '[]')
  return entries
}
