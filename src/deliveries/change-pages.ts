import { setImmediate as nextTurn } from 'node:timers/promises'
import { parseCursor, type Change, type Cursor } from '../storage/database/changes/change.ts'
import { accountClient } from '../lib/client.ts'
import type { ChangeLog } from '../storage/database/changes/change-log.ts'
import { Gate } from '../lib/gate.ts'
import { POOLS } from '../lib/pools.ts'
import { InterruptibleSleep } from '../lib/clock.ts'

/** Changes per page, some 3 ms of work. A slow client makes the process hold a few pages. */
const PAGE_SIZE = 300
/** Pages, and events in them, cached for readers that lag a little. */
const MAX_CACHED_PAGES = 32
const MAX_CACHED_EVENTS = 3_000
/** Delay after a failed read. */
const RETRY_MS = 1_000

/** A change that readers get. */
export interface LoggedEvent {
  readonly cursor: Cursor
  /** Milliseconds since 1970. */
  readonly at: number
}

/** Consecutive changes, read once for all readers. */
export interface EventPage<E extends LoggedEvent> {
  readonly after: Cursor
  readonly cursor: Cursor
  readonly events: readonly E[]
}

/** How changes become the pages of a feature. */
export interface PageReading<P> {
  toPage(after: Cursor, cursor: Cursor, changes: readonly Change[]): P | Promise<P>
  /** Returns the part of a page after a position in it. */
  withoutRead(page: P, after: Cursor): P
}

/** `quiet`: nothing came within the given time. `ended`: the signal aborted, or the process stops. */
export type Step<P> =
  { readonly kind: 'page'; readonly page: P } | { readonly kind: 'gap' | 'quiet' | 'ended' }

interface Reading<P> {
  readonly page: P | 'gap' | 'failed'
  /** Value of the wakeup counter when the read started. */
  readonly wakeups: number
}

/** Returns the events of a page after a position in it. */
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
