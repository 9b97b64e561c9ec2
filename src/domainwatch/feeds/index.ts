import { repeatUntilAborted } from '../../lib/background-jobs.ts'
import { InterruptibleSleep } from '../../lib/clock.ts'
import type { Reader } from '../../storage/database/database.ts'
import { ImportSlots } from '../import/import-list.ts'
import { feedSources, feedStates, type FeedSourceRow, type FeedStateRow } from './queries.ts'
import { feedSource, sourceOf, type Feed } from './settings.ts'
import { FIRST_BACKOFF_MS, updateFeed, type Turn, type UpdateOptions } from './update-feed.ts'

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

export interface FeedsOptions extends UpdateOptions {
  readonly feeds: readonly Feed[]
}

/**
 * Fetches and imports lists at their intervals. Each feed is fetched independently of those of other hosts, so a slow server
 * delays nobody else. Runs on one node only (leased).
 */
export class Feeds {
  readonly #options: FeedsOptions
  readonly #idle: InterruptibleSleep
  readonly #slots = new ImportSlots()

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
      await updateFeed(this.#options, this.#slots, feed, before, turn, signal)
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
