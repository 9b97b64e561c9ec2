import { entryOf, gapEntry, type AtomEntry } from '../events/atom.ts'
import { languageOf } from '../events/atom-texts.ts'
import { nextNotification, writeOne, type NotifierContext } from './notification.ts'
import * as queries from './queries.ts'
import { watchPredicate } from './watch-filters.ts'
import { hash, randomBytes } from 'node:crypto'

/** Generates the secret part of an Atom feed's address. */
export function newAtomToken(): string {
  return randomBytes(20).toString('base64url')
}

/** Tokens are random, so a plain hash suffices to make a leaked database useless. */
export function digestOf(token: string): string {
  return hash('sha256', token)
}

/** Entries that an Atom feed keeps. */
const MAX_ENTRIES = 50
const WINDOW_MS = 200

/** Maintains the Atom feed of one watch until `signal` aborts or the watch is edited, paused or deleted. */
export async function notifyAtomFeed(
  { database, pages, clock, vocabulary }: NotifierContext,
  row: queries.AtomFeedState,
  signal: AbortSignal,
): Promise<void> {
  const request = {
    isRelevant: watchPredicate(row, vocabulary),
    max: MAX_ENTRIES,
    beyond: 'oldest',
    windowMs: WINDOW_MS,
  } as const
  const language = languageOf(row.language)
  let entries: readonly AtomEntry[] = entriesOf(row.feed)
  let cursor = row.feed_cursor ?? (await pages.head())
  while (!signal.aborted) {
    const found = await nextNotification(pages, cursor, request, signal)
    if (found === undefined) return
    if (found.cursor === cursor) continue
    const added = found.isGap
      ? [gapEntry(`${row.id} ${found.cursor}`, clock.now(), language)]
      : found.events.map((event) => entryOf(event, language)).reverse()
    entries = [...added, ...entries].slice(0, MAX_ENTRIES)
    cursor = found.cursor
    if (
      !(await writeOne(database, queries.storeAtomFeed(row.id, row.version, JSON.stringify(entries), cursor)))
    )
      return
  }
}

/** Parses the stored entries of an Atom feed. */
export function entriesOf(feed: string | null): readonly AtomEntry[] {
  const entries: readonly AtomEntry[] = JSON.parse(feed ?? '[]')
  return entries
}
