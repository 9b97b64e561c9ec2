import { setImmediate as nextTurn } from 'node:timers/promises'
import { parseCursor, type Change, type Cursor } from '../storage/database/changes/change.ts'
import { accountClient } from '../lib/client.ts'
import type { ChangeLog } from '../storage/database/changes/change-log.ts'
import { Gate } from '../lib/gate.ts'
import { POOLS } from '../lib/limits.ts'
import { InterruptibleSleep } from '../lib/clock.ts'
import type { Database } from '../storage/database/database.ts'
import type { Query } from '../storage/database/sql.ts'
import type { Batching, LoggedEvent } from './transport.ts'

/** Changes per page, some 3 ms of work. A slow client makes the process hold a few pages. */
const PAGE_SIZE = 300
/** Pages, and events in them, cached for readers that lag a little. */
const MAX_CACHED_PAGES = 32
const MAX_CACHED_EVENTS = 3_000
/** Delay after a failed read. */
const RETRY_MS = 1_000

/** Consecutive changes, read once for all readers. */
export interface EventPage<E extends LoggedEvent> {
  readonly after: Cursor
  readonly cursor: Cursor
  readonly events: readonly E[]
}

/** How changes become the pages of a feature. */
interface PageReading<P> {
  toPage(after: Cursor, cursor: Cursor, changes: readonly Change[]): P | Promise<P>
  /** Returns the part of a page after a position in it. */
  withoutRead(page: P, after: Cursor): P
}

/** `quiet`: nothing came within the given time. `ended`: the signal aborted, or the process stops. */
type Step<P> = { readonly kind: 'page'; readonly page: P } | { readonly kind: 'gap' | 'quiet' | 'ended' }

interface Reading<P> {
  readonly page: P | 'gap' | 'failed'
  /** Value of the wakeup counter when the read started. */
  readonly wakeups: number
}

export function eventsAfter<E extends LoggedEvent>(events: readonly E[], position: Cursor): readonly E[] {
  const from = parseCursor(position)?.id ?? 0
  return events.filter(({ cursor }) => (parseCursor(cursor)?.id ?? 0) > from)
}

/**
 * The changes of all writers, for any number of readers in this process. Readers at the same cursor share one
 * query, and all readers share the pages. A page ends at the newest change or is full, so readers that are up to date have
 * the same cursor.
 */
export class ChangePages<P extends EventPage<LoggedEvent>> {
  readonly #changes: ChangeLog
  readonly #reading: PageReading<P>
  readonly #failed: (error: unknown) => void
  readonly #gate = new Gate(POOLS.changes)
  /** By account and cursor: queued reads of one account must not delay those of another. */
  readonly #reads = new Map<string, Promise<Reading<P>>>()
  /** Those that have a slot, by cursor. */
  readonly #running = new Map<Cursor, Promise<Reading<P>>>()
  readonly #wakeup = new InterruptibleSleep()
  #cached: readonly P[] = []
  #wakeups = 0
  #unwatch: (() => void) | undefined
  #isFailing = false
  #closed = false

  /** @param failed called for the first of several consecutive failed reads, which are retried */
  constructor(changes: ChangeLog, reading: PageReading<P>, failed: (error: unknown) => void) {
    this.#changes = changes
    this.#reading = reading
    this.#failed = failed
  }

  /** Returns the cursor after the newest change. */
  head(): Promise<Cursor> {
    return this.#changes.head()
  }

  /**
   * Resolves to the changes after `cursor` as soon as there are any. Accounts take turns, one reader at a time, so that hundreds
   * of readers of a page do not filter and serialise it in one go.
   * @param account id for the fair share of database reads and of turns; undefined for the service
   */
  async next(cursor: Cursor, signal: AbortSignal, waitMs: number, account?: number): Promise<Step<P>> {
    this.#unwatch ??= this.#closed ? undefined : this.#changes.watch(() => this.#wake())
    const end = performance.now() + waitMs
    for (;;) {
      if (signal.aborted || this.#closed) return { kind: 'ended' }
      const cached = this.#find(cursor)
      if (cached !== undefined) return this.#inTurn(cached, account)
      const { page, wakeups } = await this.#read(cursor, account)
      if (page === 'gap') return { kind: 'gap' }
      if (page === 'failed') await this.#sleep(RETRY_MS, signal)
      else if (page.cursor !== cursor) return this.#inTurn(page, account)
      else if (wakeups === this.#wakeups) await this.#sleep(end - performance.now(), signal)
      if (performance.now() >= end) return { kind: 'quiet' }
    }
  }

  close(): void {
    this.#closed = true
    this.#unwatch?.()
    this.#wake()
  }

  async #inTurn(page: P, account: number | undefined): Promise<Step<P>> {
    await this.#gate.run(accountClient(account), () => nextTurn())
    return { kind: 'page', page }
  }

  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#closed) await this.#wakeup.sleep(Math.max(0, ms), signal)
  }

  #wake(): void {
    this.#wakeups++
    this.#wakeup.wakeAll()
  }

  /** Returns the cached page that starts at `cursor`, or the rest of one that contains it. */
  #find(cursor: Cursor): P | undefined {
    const exact = this.#cached.find((page) => page.after === cursor)
    if (exact !== undefined) return exact
    const position = parseCursor(cursor)
    const page = this.#cached.find(({ after, cursor: end }) => {
      const [from, to] = [parseCursor(after), parseCursor(end)]
      if (position === undefined || from === undefined || to === undefined) return false
      return from.epoch === position.epoch && from.id < position.id && position.id < to.id
    })
    return page && this.#reading.withoutRead(page, cursor)
  }

  #read(cursor: Cursor, account: number | undefined): Promise<Reading<P>> {
    const client = accountClient(account)
    const key = `${client} ${cursor}`
    const pending = this.#reads.get(key)
    if (pending !== undefined) return pending
    const reading = this.#gate
      .run(client, () => this.#runOnce(cursor))
      .catch((error: unknown): Reading<P> => {
        if (!this.#isFailing && !this.#closed) this.#failed(error)
        this.#isFailing = true
        return { page: 'failed', wakeups: this.#wakeups }
      })
      .finally(() => this.#reads.delete(key))
    this.#reads.set(key, reading)
    return reading
  }

  /** Accounts that read at the same cursor get the page together, so that none has had all its turns before another. */
  #runOnce(cursor: Cursor): Promise<Reading<P>> {
    const running = this.#running.get(cursor)
    if (running !== undefined) return running
    const wakeups = this.#wakeups
    const read = async () => ({ page: this.#find(cursor) ?? (await this.#readPage(cursor)), wakeups })
    const reading = read().finally(() => this.#running.delete(cursor))
    this.#running.set(cursor, reading)
    return reading
  }

  async #readPage(cursor: Cursor): Promise<P | 'gap'> {
    // A reader that catches up must not starve others.
    await nextTurn()
    const found = await this.#changes.since(cursor, PAGE_SIZE)
    if (found.kind === 'gap') return 'gap'
    const page = await this.#reading.toPage(cursor, found.cursor, found.changes)
    if (found.cursor !== cursor) this.#cache(page)
    this.#isFailing = false
    return page
  }

  #cache(page: P): void {
    const pages = [...this.#cached, page].slice(-MAX_CACHED_PAGES)
    let count = 0
    for (const { events } of pages) count += events.length
    for (; count > MAX_CACHED_EVENTS; pages.shift()) count -= pages[0]?.events.length ?? count
    this.#cached = pages
  }
}

/** Without events, the cursor is reported after this time, so that it can be stored. */
const IDLE_MS = 60_000

/** Events to report. If there are none and no gap, only the cursor has advanced. */
export interface Notification<E extends LoggedEvent> {
  readonly events: readonly E[]
  /** Number of relevant events that were not kept. */
  readonly omitted: number
  /** True if changes were missed. */
  readonly isGap: boolean
  /** Everything up to here is reported or irrelevant. */
  readonly cursor: Cursor
}

export interface NotificationRequest<E extends LoggedEvent> {
  /** Id of the account of the watch, in whose turn changes are read and filtered. */
  readonly account: number
  readonly isRelevant: (event: E) => boolean
  /** Whether an event may be in one notification with the first one; absent if all may. */
  readonly isAlike?: (first: E, event: E) => boolean
  readonly max: number
  /** Which events are dropped beyond the maximum. With `next`, none: they belong to the next notification. */
  readonly beyond: Batching['beyond'] | 'oldest'
  /** Events that follow the first one within this time belong to the same notification. */
  readonly windowMs: number
}

/**
 * Collects the next notification after `from`: the first events, and those that follow within the window. With `upTo`, collects
 * everything up to there, or as much as belongs to one notification. Resolves to undefined when `signal` aborts.
 */
export async function nextNotification<E extends LoggedEvent>(
  pages: ChangePages<EventPage<E>>,
  from: Cursor,
  { account, isRelevant, isAlike = () => true, max, beyond, windowMs }: NotificationRequest<E>,
  signal: AbortSignal,
  upTo?: Cursor,
): Promise<Notification<E> | undefined> {
  const events: E[] = []
  let omitted = 0
  let most = max
  let cursor = from
  let end = performance.now() + IDLE_MS
  const isFull = () => beyond === 'next' && events.length >= most
  const isOver = () => (upTo === undefined ? performance.now() >= end : hasReached(cursor, upTo))
  while (!isFull() && !isOver()) {
    const waitMs = upTo === undefined ? end - performance.now() : IDLE_MS
    const step = await pages.next(cursor, signal, waitMs, account)
    if (step.kind === 'ended') return undefined
    if (step.kind === 'gap') {
      // Events before the gap are reported first. The next notification meets the gap again.
      if (events.length > 0) break
      return { events, omitted, isGap: true, cursor: await pages.head() }
    }
    if (step.kind !== 'page') continue
    const wasEmpty = events.length === 0
    events.push(...step.page.events.filter(isRelevant))
    cursor = step.page.cursor
    const other = events.findIndex((event) => !isAlike(events[0] ?? event, event))
    if (other > 0) most = Math.min(most, other)
    if (wasEmpty && events.length > 0) end = performance.now() + windowMs
    const excess = events.length - most
    if (excess <= 0) continue
    events.splice(beyond === 'oldest' ? 0 : most, excess)
    if (beyond === 'counted') omitted += excess
    if (beyond === 'next') cursor = events.at(-1)?.cursor ?? cursor
  }
  return { events, omitted, isGap: false, cursor }
}

/** A cursor of another database has not reached anything: its reader meets a gap. */
function hasReached(cursor: Cursor, head: Cursor): boolean {
  const [at, end] = [parseCursor(cursor), parseCursor(head)]
  return at !== undefined && end !== undefined && at.epoch === end.epoch && at.id >= end.id
}

/** Runs a statement that changes one row, in the turn of an account. Returns false if it changed none. */
export async function writeOne(database: Database, query: Query, account: number): Promise<boolean> {
  return (await database.transaction((tx) => tx.run(query), account)) > 0
}
