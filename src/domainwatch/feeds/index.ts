import { InterruptibleSleep } from '../../lib/clock.ts'
import type { Transaction, Reader } from '../../storage/database/database.ts'
import { storeRows } from '../../storage/database/tables.ts'
import type { Effect } from '../import/writer.ts'
import { faultIn, importList, type ImportedList } from '../import/import-list.ts'
import { Gate } from '../../lib/gate.ts'
import { POOLS } from '../../lib/limits.ts'
import { ListFault } from '../../lib/errors.ts'
import { announceFreed } from '../registry/apply-list.ts'
import { download, DOWNLOAD_LIMITS, type Download, type DownloadOptions } from '../../deliveries/download.ts'
import {
  deleteOldStates,
  FEED_STATES,
  type FeedStateRow,
  feedSources,
  feedStates,
  type FeedSourceRow,
} from '../registry/queries.ts'
import { feedSource, sourceOf, type Feed } from './settings.ts'
import { repeatUntilAborted } from '../../lib/concurrency.ts'
import type { DomainContext } from '../context.ts'

/** Delay after the first failed attempt. It doubles with each further one, up to the interval. */
const FIRST_BACKOFF_MS = 60_000
/** How often to look for the account of a feed that does not exist yet. */
const ACCOUNT_CHECK_MS = 1_000
/** How long the state of a feed is kept that is no longer in the settings; longer than the longest interval. */
const KEPT_MS = 60 * 24 * 60 * 60_000

interface UpdateOptions extends Pick<DomainContext, 'clock' | 'database' | 'dictionary' | 'timeZone'> {
  readonly accountNamed: (name: string) => Promise<{ readonly id: number; readonly name: string } | undefined>
  readonly downloads: DownloadOptions
  /** Called when a feed fails, and when the database does. Both are retried. */
  readonly failed: (error: unknown, feed?: string) => void
  /** Called after an import whose list the operator should look at. */
  readonly imported: (feed: string, result: ImportedList) => void
}

/** One update of a feed among others. */
interface Turn {
  /** When it became due, which is when those of all lists due together begin. */
  readonly at: number
  /** Resolves when the list may be imported: those of deletions of the same account come first. */
  readonly begin: () => Promise<unknown>
}

class MissingAccount extends ListFault {}

/** Fetches and imports a feed once, and stores the result as its state. Stores none if `signal` aborts. */
async function updateFeed(
  options: UpdateOptions,
  gate: Gate<string>,
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
    const result = await fetchFeed(options, gate, feed, state, stored, turn, signal)
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
  { accountNamed, clock, database, dictionary, downloads, imported, timeZone }: UpdateOptions,
  gate: Gate<string>,
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
  const target = { database, clock, timeZone, split: dictionary.split, account, stored }
  await begin()
  const { path } = file
  const { name, format, window, zone } = feed
  const list = {
    path,
    format: format === 'auto' ? undefined : format,
    source: feedSource(name),
    window,
    zone,
    at,
    isDelimited: result.isDelimited,
  }
  const done = await importList(list, target, { gate, client: name, maxBytes, signal })
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

/** How often to look for feeds that are due. */
const IDLE_MS = 1_000
/** Feeds of one host that are fetched at the same time. All feeds of all hosts may be: a waiting socket costs little. */
const MAX_PER_HOST = 4

/** Intervals without success after which a feed is stale. */
const STALE_INTERVALS = 3

export interface FeedStatus {
  readonly feed: Feed
  /** Undefined before the first attempt. */
  readonly state: FeedStateRow | undefined
  /** Undefined before the first list. */
  readonly source: FeedSourceRow | undefined
  readonly isStale: boolean
}

function isStale({ everyMs }: Feed, state: FeedStateRow | undefined, now: number): boolean {
  const since = state?.succeeded_at ?? state?.first_at ?? now
  return now - since > STALE_INTERVALS * everyMs
}

/** Returns the state of each feed, in their order. */
export async function feedStatuses(
  database: Reader,
  feeds: readonly Feed[],
  now: number,
): Promise<FeedStatus[]> {
  if (feeds.length === 0) return []
  const states = await statesByName(database)
  const sources = await database.all(feedSources())
  return feeds.map((feed) => {
    const state = states.get(feed.name)
    const isSource = ({ account, name }: FeedSourceRow) =>
      account === feed.account && name === feedSource(feed.name)
    return { feed, state, source: sources.find(isSource), isStale: isStale(feed, state, now) }
  })
}

async function statesByName(database: Reader): Promise<Map<string, FeedStateRow>> {
  const rows = await database.all(feedStates())
  return new Map(rows.map((row) => [row.name, row]))
}

/** Returns the time from which a feed is to be fetched. */
function dueAt(feed: Feed, row: FeedStateRow | undefined, now: number): number {
  // A time in the future means that the clock was set back.
  if (row === undefined || row.source !== sourceOf(feed) || row.attempted_at > now) return 0
  return Math.min(row.due_at, row.attempted_at + feed.everyMs)
}

interface FeedsOptions extends UpdateOptions {
  readonly feeds: readonly Feed[]
}

/**
 * Fetches and imports lists at their intervals. Each feed is fetched independently of those of other hosts, so a slow server
 * delays nobody else. Runs on one node only (leased).
 */
export class Feeds {
  readonly #options: FeedsOptions
  readonly #idle: InterruptibleSleep
  readonly #imports = new Gate<string>(POOLS.imports)

  constructor(options: FeedsOptions) {
    this.#options = options
    this.#idle = options.clock.moved ?? new InterruptibleSleep()
  }

  get isEmpty(): boolean {
    return this.#options.feeds.length === 0
  }

  /** Returns the state of each feed, in the order of the settings. */
  async statuses(): Promise<FeedStatus[]> {
    const { feeds, clock, database } = this.#options
    return feedStatuses(database, feeds, clock.now())
  }

  /** Returns a figure of each feed that has it, by the names of the feeds. */
  async figures(read: (status: FeedStatus) => number | undefined): Promise<Map<string, number>> {
    const figures = new Map<string, number>()
    for (const status of await this.statuses()) {
      const figure = read(status)
      if (figure !== undefined) figures.set(status.feed.name, figure)
    }
    return figures
  }

  /** Runs until `signal` aborts. Downloads in progress are abandoned then, and their feeds fetched again. */
  async run(signal: AbortSignal): Promise<void> {
    const running: Running = new Map()
    const { clock, database, feeds } = this.#options
    const startDue = async () => {
      // Before the states are read: that of a feed whose update ends meanwhile may be older than its end.
      const idle = feeds.filter((feed) => !running.has(feed))
      const rows = await statesByName(database)
      const at = clock.now()
      for (const feed of this.#due(idle, rows, running)) {
        const turn = { at, begin: () => getDeletions(feed, running) }
        const ended = this.#update(feed, rows.get(feed.name), turn, signal).finally(() => {
          running.delete(feed)
          this.#idle.wakeAll()
        })
        running.set(feed, ended)
      }
      await this.#idle.sleep(IDLE_MS, signal)
    }
    await repeatUntilAborted(startDue, signal, this.#options.failed)
    await Promise.all(running.values())
  }

  /** Yields those of the feeds that may start, the most overdue first. */
  *#due(feeds: readonly Feed[], rows: ReadonlyMap<string, FeedStateRow>, running: Running): Generator<Feed> {
    const now = this.#options.clock.now()
    const due = feeds
      .map((feed) => ({ feed, at: dueAt(feed, rows.get(feed.name), now) }))
      .filter(({ at }) => at <= now)
      // Deletions come first among feeds that are due together.
      .toSorted((a, b) => a.at - b.at || rank(a.feed) - rank(b.feed))
    for (const { feed } of due) {
      const host = hostOf(feed)
      if ([...running.keys()].filter((other) => hostOf(other) === host).length < MAX_PER_HOST) yield feed
    }
  }

  /** Never rejects. A feed whose state cannot be stored is not fetched again and again meanwhile. */
  async #update(
    feed: Feed,
    before: FeedStateRow | undefined,
    turn: Turn,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      await updateFeed(this.#options, this.#imports, feed, before, turn, signal)
    } catch (error) {
      if (signal.aborted) return
      this.#options.failed(error, feed.name)
      await new InterruptibleSleep().sleep(FIRST_BACKOFF_MS, signal)
    }
  }
}

const rank = ({ format }: Feed) => (format === 'deletions' ? 0 : 1)

/** The feeds that are being updated. */
type Running = Map<Feed, Promise<void>>

/** Resolves when the lists of deletions are imported that were due together with another list of their account. */
const getDeletions = ({ account, format }: Feed, running: Running): Promise<unknown> =>
  Promise.all(
    [...running]
      .filter(
        ([other]) => format !== 'deletions' && other.format === 'deletions' && other.account === account,
      )
      .map(([, ended]) => ended),
  )

const hostOf = ({ url }: Feed) => new URL(url).host
