import { setImmediate as nextTurn } from 'node:timers/promises'
import { parseCursor, type Cursor } from '../../storage/database/changes/change.ts'
import { accountClient } from '../../lib/client.ts'
import type { ChangeLog } from '../../storage/database/changes/change-log.ts'
import { Gate } from '../../lib/gate.ts'
import { POOLS } from '../../lib/pools.ts'
import { InterruptibleSleep } from '../../lib/clock.ts'
import type { Filters } from '../filters.ts'
import { concerns, eventOf, toJson, type ChangeReading, type Changes, type DomainEvent } from './event.ts'

/** Changes per page, some 3 ms of work. A slow client makes the process hold a few pages. */
const PAGE_SIZE = 300
/** Pages, and events in them, cached for readers that lag a little. */
const MAX_CACHED_PAGES = 32
const MAX_CACHED_EVENTS = 3_000
/** Distinct filters per page whose serialised text is cached. A text may be as large as its page. */
const MAX_CACHED_TEXTS = 16
/** Delay after a failed read. */
const RETRY_MS = 1_000

/** Consecutive changes, read once for all readers. */
export interface EventPage {
  readonly after: Cursor
  readonly cursor: Cursor
  readonly events: readonly DomainEvent[]
  /** True if a key was created or revoked. */
  readonly touchesKeys: boolean
  /** Returns the events that concern the filters as server-sent events, or undefined if there are none. Cached per key. */
  text(changes: Changes, filters: Filters, key: string): Buffer | undefined
}

/** `quiet`: nothing came within the given time. `ended`: the signal aborted, or the process stops. */
export type Step =
  { readonly kind: 'page'; readonly page: EventPage } | { readonly kind: 'gap' | 'quiet' | 'ended' }

interface Reading {
  readonly page: EventPage | 'gap' | 'failed'
  /** Value of the wakeup counter when the read started. */
  readonly wakeups: number
}

/**
 * The changes of all writers, for any number of readers in this process. Readers at the same cursor share one
 * query, and all readers share the pages. A page ends at the newest change or is full, so readers that are up to date have
 * the same cursor.
 */
export class EventPages {
  readonly #changes: ChangeLog
  readonly #reading: ChangeReading
  readonly #failed: (error: unknown) => void
  readonly #gate = new Gate(POOLS.changes)
  /** By account and cursor: queued reads of one account must not delay those of another. */
  readonly #reads = new Map<string, Promise<Reading>>()
  /** Those that have a slot, by cursor. */
  readonly #running = new Map<Cursor, Promise<Reading>>()
  readonly #wakeup = new InterruptibleSleep()
  #cached: readonly EventPage[] = []
  #wakeups = 0
  #unwatch: (() => void) | undefined
  #isFailing = false
  #closed = false

  /** @param failed called for the first of several consecutive failed reads, which are retried */
  constructor(changes: ChangeLog, reading: ChangeReading, failed: (error: unknown) => void) {
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
  async next(cursor: Cursor, signal: AbortSignal, waitMs: number, account?: number): Promise<Step> {
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

  async #inTurn(page: EventPage, account: number | undefined): Promise<Step> {
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
  #find(cursor: Cursor): EventPage | undefined {
    const exact = this.#cached.find((page) => page.after === cursor)
    if (exact !== undefined) return exact
    const position = parseCursor(cursor)
    const page = this.#cached.find(({ after, cursor: end }) => {
      const [from, to] = [parseCursor(after), parseCursor(end)]
      if (position === undefined || from === undefined || to === undefined) return false
      return from.epoch === position.epoch && from.id < position.id && position.id < to.id
    })
    if (page === undefined || position === undefined) return undefined
    const events = page.events.filter((event) => (parseCursor(event.cursor)?.id ?? 0) > position.id)
    return pageOf(cursor, page.cursor, events, page.touchesKeys)
  }

  #read(cursor: Cursor, account: number | undefined): Promise<Reading> {
    const client = accountClient(account)
    const key = `${client} ${cursor}`
    const pending = this.#reads.get(key)
    if (pending !== undefined) return pending
    const reading = this.#gate
      .run(client, () => this.#runOnce(cursor))
      .catch((error: unknown): Reading => {
        if (!this.#isFailing && !this.#closed) this.#failed(error)
        this.#isFailing = true
        return { page: 'failed', wakeups: this.#wakeups }
      })
      .finally(() => this.#reads.delete(key))
    this.#reads.set(key, reading)
    return reading
  }

  /** Accounts that read at the same cursor get the page together, so that none has had all its turns before another. */
  #runOnce(cursor: Cursor): Promise<Reading> {
    const running = this.#running.get(cursor)
    if (running !== undefined) return running
    const wakeups = this.#wakeups
    const read = async () => ({ page: this.#find(cursor) ?? (await this.#readPage(cursor)), wakeups })
    const reading = read().finally(() => this.#running.delete(cursor))
    this.#running.set(cursor, reading)
    return reading
  }

  async #readPage(cursor: Cursor): Promise<EventPage | 'gap'> {
    // A reader that catches up must not starve others.
    await nextTurn()
    const found = await this.#changes.since(cursor, PAGE_SIZE)
    if (found.kind === 'gap') return 'gap'
    // Read after the changes, so that no rule that precedes one is missing.
    const { hides } = await this.#reading.rules.current()
    const events: DomainEvent[] = []
    for (const change of found.changes) {
      const event = await eventOf(change, this.#reading, hides)
      if (event !== undefined) events.push(event)
    }
    const touchesKeys = found.changes.some(({ topic }) => topic === 'key')
    const page = pageOf(cursor, found.cursor, events, touchesKeys)
    if (found.cursor !== cursor) this.#cache(page)
    this.#isFailing = false
    return page
  }

  #cache(page: EventPage): void {
    const pages = [...this.#cached, page].slice(-MAX_CACHED_PAGES)
    let count = 0
    for (const { events } of pages) count += events.length
    for (; count > MAX_CACHED_EVENTS; pages.shift()) count -= pages[0]?.events.length ?? count
    this.#cached = pages
  }
}

function pageOf(
  after: Cursor,
  cursor: Cursor,
  events: readonly DomainEvent[],
  touchesKeys: boolean,
): EventPage {
  const texts = new Map<string, Buffer | undefined>()
  const textOf = (changes: Changes, filters: Filters) => {
    const text = events.filter((event) => concerns(changes, filters, event)).map(frame)
    return text.length === 0 ? undefined : Buffer.from(text.join(''))
  }
  return {
    after,
    cursor,
    events,
    touchesKeys,
    text(changes, filters, key) {
      if (texts.has(key)) return texts.get(key)
      const text = textOf(changes, filters)
      if (texts.size < MAX_CACHED_TEXTS) texts.set(key, text)
      return text
    },
  }
}

/** Readers with different filters share the texts of events. */
const frames = new WeakMap<DomainEvent, string>()

function frame(event: DomainEvent): string {
  let text = frames.get(event)
  if (text === undefined) {
    text = `id: ${event.cursor}\nevent: ${event.kind}\ndata: ${toJson(event)}\n\n`
    frames.set(event, text)
  }
  return text
}
