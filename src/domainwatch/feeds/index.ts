import { createHash } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import { InterruptibleSleep } from '../../lib/interruptible-sleep.ts'
import type { Database } from '../../storage/database/database.ts'
import { storeRows } from '../../storage/database/rows.ts'
import type { ImportOptions } from '../import/importer.ts'
import { download, DOWNLOAD_LIMITS, FeedFault, type DownloadOptions, type Validators } from './download.ts'
import { importDownload } from './import-download.ts'
import { deleteOldStates, FEED_STATES, feedStates, type FeedStateRow } from './queries.ts'
import type { Feed } from './settings.ts'

/** How often to look for feeds that are due. */
const IDLE_MS = 1_000
/** Delay after a failure of the database. */
const RETRY_MS = 2_000
/** Delay after the first failed attempt. It doubles with each further one, up to the interval. */
const FIRST_BACKOFF_MS = 60_000
/** Intervals without success after which a feed is stale. */
const STALE_INTERVALS = 3
/** How long the state of a feed is kept that is no longer in the settings; longer than the longest interval. */
const KEPT_MS = 60 * 24 * 60 * 60_000
const NO_VALIDATORS: Validators = { etag: null, lastModified: null }

export interface FeedsOptions {
  readonly database: Database
  readonly clock: Clock
  readonly timeZone: string
  /** Splits names into words. */
  readonly split: ImportOptions['split']
  readonly feeds: readonly Feed[]
  readonly accountNamed: (name: string) => Promise<{ readonly id: number; readonly name: string } | undefined>
  readonly downloads: DownloadOptions
  /** Called when a feed fails, and when the database does. Both are retried. */
  readonly failed: (error: unknown, feed?: string) => void
}

export interface FeedStatus {
  readonly feed: Feed
  readonly attemptedAt: number | null
  readonly succeededAt: number | null
  /** When an import last changed records. */
  readonly changedAt: number | null
  /** Failed attempts since the last success. */
  readonly failures: number
  /** Why the last attempt failed, in Spanish. */
  readonly error: string | null
  /** Counts of the last import. */
  readonly counts: { readonly read: number; readonly changed: number; readonly refused: number } | null
  readonly isStale: boolean
}

/** Fetches and imports lists at their intervals, one at a time. Runs on one node only (leased). */
export class Feeds {
  readonly #options: FeedsOptions
  readonly #idle: InterruptibleSleep

  constructor(options: FeedsOptions) {
    this.#options = options
    this.#idle = options.clock.moved ?? new InterruptibleSleep()
  }

  get isEmpty(): boolean {
    return this.#options.feeds.length === 0
  }

  /** Returns the state of each feed, in the order of the settings. */
  async statuses(): Promise<FeedStatus[]> {
    const { feeds, clock } = this.#options
    if (this.isEmpty) return []
    const rows = await this.#rows()
    return feeds.map((feed) => statusOf(feed, rows.get(feed.name), clock.now()))
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

  /** Runs until `signal` aborts. A download in progress is abandoned then, and the feed is fetched again. */
  async run(signal: AbortSignal): Promise<void> {
    const { failed } = this.#options
    while (!signal.aborted) {
      try {
        const due = await this.#mostOverdue()
        if (due === undefined) await this.#idle.sleep(IDLE_MS, signal)
        else await this.#update(due.feed, due.row, signal)
      } catch (error) {
        if (signal.aborted) return
        failed(error)
        await new InterruptibleSleep().sleep(RETRY_MS, signal)
      }
    }
  }

  async #rows(): Promise<Map<string, FeedStateRow>> {
    const rows = await this.#options.database.all(feedStates())
    return new Map(rows.map((row) => [row.name, row]))
  }

  async #mostOverdue() {
    const { feeds, clock } = this.#options
    const rows = await this.#rows()
    const now = clock.now()
    const due = feeds
      .map((feed) => ({ feed, row: rows.get(feed.name), at: dueAt(feed, rows.get(feed.name), now) }))
      .filter(({ at }) => at <= now)
    return due.toSorted((a, b) => a.at - b.at)[0]
  }

  async #update(feed: Feed, before: FeedStateRow | undefined, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options
    const source = sourceOf(feed)
    const now = clock.now()
    const known = before?.source === source ? before : undefined
    const failures = (before?.failures ?? 0) + 1
    const begun: FeedStateRow = {
      ...(before ?? NEVER_FETCHED),
      name: feed.name,
      source,
      first_at: before?.first_at ?? now,
      attempted_at: now,
      etag: known?.etag ?? null,
      last_modified: known?.last_modified ?? null,
    }
    try {
      const result = await this.#fetch(feed, begun, signal)
      await this.#write({
        ...begun,
        ...result,
        succeeded_at: clock.now(),
        due_at: now + feed.everyMs,
        failures: 0,
        error: null,
      })
    } catch (error) {
      if (signal.aborted) return
      this.#options.failed(error, feed.name)
      await this.#write({
        ...begun,
        due_at: now + Math.min(feed.everyMs, FIRST_BACKOFF_MS * 2 ** Math.min(failures - 1, 20)),
        failures,
        error: error instanceof FeedFault ? error.message : 'La lista no se ha podido guardar',
      })
    }
  }

  /** Returns what changes in the state after a success. Validators are stored last: a crash before means another import. */
  async #fetch(feed: Feed, row: FeedStateRow, signal: AbortSignal): Promise<Partial<FeedStateRow>> {
    const { accountNamed, clock, database, downloads, split, timeZone } = this.#options
    const account = await accountNamed(feed.account)
    if (account === undefined) throw new FeedFault(`La cuenta ${feed.account} no existe`)
    const known = { ...NO_VALIDATORS, etag: row.etag, lastModified: row.last_modified }
    const result = await download(feed.url, known, downloads, signal)
    if (result.kind === 'unchanged') return {}
    try {
      const { maxBytes } = downloads.limits ?? DOWNLOAD_LIMITS
      const target = { database, clock, timeZone, split, account }
      const { read, changed, refused } = await importDownload(
        result.file.path,
        feed,
        target,
        maxBytes,
        signal,
      )
      return {
        etag: result.validators.etag,
        last_modified: result.validators.lastModified,
        records_read: read,
        records_changed: changed,
        lines_refused: refused,
        ...(changed > 0 && { changed_at: clock.now() }),
      }
    } finally {
      await result.file.discard()
    }
  }

  async #write(row: FeedStateRow): Promise<void> {
    const { clock, database } = this.#options
    const values = Object.keys(FEED_STATES.columns).map((column) => new Map(Object.entries(row)).get(column))
    await database.transaction(async (tx) => {
      await storeRows(tx, database.dialect, FEED_STATES, [values])
      await tx.run(deleteOldStates(clock.now() - KEPT_MS))
    })
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

/** Identifies what the validators of a list belong to. A digest, because addresses may contain secrets. */
function sourceOf({ url, format, account }: Feed): string {
  return createHash('sha256')
    .update(JSON.stringify([url, format, account]))
    .digest('base64url')
}

function dueAt(feed: Feed, row: FeedStateRow | undefined, now: number): number {
  // A time in the future means that the clock was set back.
  if (row === undefined || row.source !== sourceOf(feed) || row.attempted_at > now) return 0
  return Math.min(row.due_at, row.attempted_at + feed.everyMs)
}

function statusOf(feed: Feed, row: FeedStateRow | undefined, now: number): FeedStatus {
  const {
    records_read: read = null,
    records_changed: changed = null,
    lines_refused: refused = null,
  } = row ?? {}
  const since = row?.succeeded_at ?? row?.first_at ?? now
  return {
    feed,
    attemptedAt: row?.attempted_at ?? null,
    succeededAt: row?.succeeded_at ?? null,
    changedAt: row?.changed_at ?? null,
    failures: row?.failures ?? 0,
    error: row?.error ?? null,
    counts: read === null || changed === null || refused === null ? null : { read, changed, refused },
    isStale: now - since > STALE_INTERVALS * feed.everyMs,
  }
}
