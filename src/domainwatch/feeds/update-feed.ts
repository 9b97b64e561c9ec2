import { InterruptibleSleep, type Clock } from '../../lib/clock.ts'
import type { Database, Transaction } from '../../storage/database/database.ts'
import { storeRows } from '../../storage/database/tables.ts'
import type { ImportOptions } from '../import/importer.ts'
import type { Effect } from '../import/writer.ts'
import { faultIn, importList, type ImportedList, type ImportSlots } from '../import/import-list.ts'
import { ListFault } from '../../lib/errors.ts'
import { announceFreed } from '../registry/announce.ts'
import { download, DOWNLOAD_LIMITS, type Download, type DownloadOptions } from '../../deliveries/download.ts'
import { deleteOldStates, FEED_STATES, type FeedStateRow } from './queries.ts'
import { feedSource, sourceOf, type Feed } from './settings.ts'

/** Delay after the first failed attempt. It doubles with each further one, up to the interval. */
export const FIRST_BACKOFF_MS = 60_000
/** How often to look for the account of a feed that does not exist yet. */
const ACCOUNT_CHECK_MS = 1_000
/** How long the state of a feed is kept that is no longer in the settings; longer than the longest interval. */
const KEPT_MS = 60 * 24 * 60 * 60_000

export interface UpdateOptions {
  readonly database: Database
  readonly clock: Clock
  readonly timeZone: string
  /** Splits names into words. */
  readonly split: ImportOptions['split']
  readonly accountNamed: (name: string) => Promise<{ readonly id: number; readonly name: string } | undefined>
  readonly downloads: DownloadOptions
  /** Called when a feed fails, and when the database does. Both are retried. */
  readonly failed: (error: unknown, feed?: string) => void
  /** Called after an import whose list the operator should look at. */
  readonly imported: (feed: string, result: ImportedList) => void
}

/** One update of a feed among others. */
export interface Turn {
  /** When it became due, which is when those of all lists due together begin. */
  readonly at: number
  /** Resolves when the list may be imported: those of deletions of the same account come first. */
  readonly begin: () => Promise<unknown>
}

class MissingAccount extends ListFault {}

/** Fetches and imports a feed once, and stores the result as its state. Stores none if `signal` aborts. */
export async function updateFeed(
  options: UpdateOptions,
  slots: ImportSlots,
  feed: Feed,
  before: FeedStateRow | undefined,
  turn: Turn,
  signal: AbortSignal,
): Promise<void> {
  const { clock, database } = options
  const now = turn.at
  const failures = (before?.failures ?? 0) + 1
  let state = begunState(feed, before, now)
  /** In the transaction of the records. If the process dies during the import, the feed stays due. */
  const stored = async (tx: Transaction, { changed }: Effect) => {
    if (changed === 0) return
    state = { ...state, changed_at: clock.now() }
    await writeState(tx, { ...state, attempted_at: before?.attempted_at ?? now, due_at: 0 })
  }
  try {
    const result = await fetchFeed(options, slots, feed, state, stored, turn, signal)
    const succeeded = { succeeded_at: clock.now(), due_at: now + feed.everyMs, failures: 0, error: null }
    state = { ...state, ...result, ...succeeded }
  } catch (error) {
    if (signal.aborted) return
    const message = error instanceof ListFault ? error.message : 'No se pudo guardar la lista'
    // The account may be created at any moment, as at the first start.
    const isMissing = error instanceof MissingAccount
    if (isMissing && before?.error === message)
      return new InterruptibleSleep().sleep(ACCOUNT_CHECK_MS, signal)
    options.failed(error, feed.name)
    const backoff = Math.min(feed.everyMs, FIRST_BACKOFF_MS * 2 ** Math.min(failures - 1, 20))
    state = { ...state, due_at: isMissing ? 0 : now + backoff, failures, error: message }
  }
  await database.transaction(async (tx) => {
    await writeState(tx, state)
    await tx.run(deleteOldStates(clock.now() - KEPT_MS))
  })

  async function writeState(tx: Transaction, row: FeedStateRow): Promise<void> {
    const values = new Map(Object.entries(row))
    const columns = Object.keys(FEED_STATES.columns)
    await storeRows(tx, database.dialect, FEED_STATES, [columns.map((column) => values.get(column))])
  }
}

/** The state at the beginning of an attempt. Validators of another list are dropped. */
function begunState(feed: Feed, before: FeedStateRow | undefined, now: number): FeedStateRow {
  const source = sourceOf(feed)
  const known = before?.source === source ? before : undefined
  return {
    ...(before ?? NEVER_FETCHED),
    name: feed.name,
    source,
    first_at: before?.first_at ?? now,
    attempted_at: now,
    etag: known?.etag ?? null,
    last_modified: known?.last_modified ?? null,
  }
}

const NEVER_FETCHED = {
  due_at: 0,
  succeeded_at: null,
  changed_at: null,
  failures: 0,
  error: null,
  records_read: null,
  records_changed: null,
  lines_refused: null,
}

/** Returns what changes in the state after a success. Validators are stored last: a crash before means another import. */
async function fetchFeed(
  { accountNamed, clock, database, downloads, imported, split, timeZone }: UpdateOptions,
  slots: ImportSlots,
  feed: Feed,
  { etag, last_modified: lastModified }: FeedStateRow,
  stored: (tx: Transaction, effect: Effect) => Promise<void>,
  { at, begin }: Turn,
  signal: AbortSignal,
): Promise<Partial<FeedStateRow>> {
  const account = await accountNamed(feed.account)
  if (account === undefined) throw new MissingAccount(`La cuenta ${feed.account} no existe`)
  const result: Download = await download(feed.url, { etag, lastModified }, downloads, signal)
  if (result.kind === 'unchanged') return {}
  await using file = result.file
  const { maxBytes } = downloads.limits ?? DOWNLOAD_LIMITS
  const target = { database, clock, timeZone, split, account, stored }
  await begin()
  const { path } = file
  const { name, format, window, zone } = feed
  const list = {
    path,
    format: format === 'auto' ? undefined : format,
    source: () => feedSource(name),
    window,
    zone,
    at,
    isDelimited: result.isDelimited,
  }
  const done = await importList(list, target, { slots, client: name, maxBytes, signal })
  const fault = faultIn(done)
  if (fault !== undefined) throw new ListFault(fault)
  await announceFreed(database, clock, signal)
  imported(feed.name, done)
  const { read, changed, refused } = done.counts
  return {
    etag: result.validators.etag,
    last_modified: result.validators.lastModified,
    records_read: read,
    records_changed: changed,
    lines_refused: refused,
  }
}
