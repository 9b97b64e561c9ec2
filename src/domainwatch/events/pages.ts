import { setImmediate as nextTurn } from 'node:timers/promises'
import { partsOf, type Cursor } from '../../storage/database/changes/change.ts'
import { clientOf } from '../../storage/database/connection-slots.ts'
import type { ChangeLog } from '../../storage/database/changes/change-log.ts'
import { FairSlots } from '../../lib/fair-slots.ts'
import type { Filters } from '../filters.ts'
import { eventOf, toJson, touches, type AccountName, type DomainEvent } from './event.ts'

/** Changes in a page: what a reader that does not take its bytes makes the process hold, a few times over. */
const PAGE = 100
/** Pages kept for readers that are a little behind. */
const MAX_KEPT = 32
/** Different filters for which a page's text is kept: it is as large as the page. */
const MAX_TEXTS = 16
/** Pages that are read from the database at a time, one of them for the same account; no more wait than there are readers. */
const MAX_READS = 2
const MAX_READS_PER_ACCOUNT = 1
const READ_WAIT_MS = 30_000
const MAX_WAITING = 100_000
/** Until a page is asked for again that the database failed to give. */
const RETRY_MS = 1_000

/** Changes that follow each other, read once for all who want them. */
export interface EventPage {
  readonly after: Cursor
  readonly cursor: Cursor
  readonly events: readonly DomainEvent[]
  /** A key was made or revoked. */
  readonly touchesKeys: boolean
  /** The events that concern these filters, as a stream carries them; undefined where there is none. Made once for all. */
  text(filters: Filters, key: string): Buffer | undefined
}

/** `quiet`: nothing came for as long as the reader was ready to wait. `ended`: the reader's signal says so, or all ends. */
export type Step =
  { readonly kind: 'page'; readonly page: EventPage } | { readonly kind: 'gap' | 'quiet' | 'ended' }

interface Read {
  /** What the count of news was when it began. */
  readonly news: number
  readonly result: Promise<EventPage | 'gap' | 'failed'>
}

/**
 * The changes of all writers for any number of readers in this process. Readers of an account at the same place share one
 * look at the database, and all readers what it brought; all pages end where the changes do at present, so whoever has caught up is at the same place.
 */
export class EventPages {
  readonly #feed: ChangeLog
  readonly #nameOf: AccountName
  readonly #failed: (error: unknown) => void
  readonly #slots = new FairSlots({
    slots: MAX_READS,
    slotsPerClient: MAX_READS_PER_ACCOUNT,
    maxWaiting: MAX_WAITING,
    maxWaitingPerClient: MAX_WAITING,
    timeoutMs: READ_WAIT_MS,
  })
  readonly #reads = new Map<string, Read>()
  readonly #waiting = new Set<() => void>()
  #kept: readonly EventPage[] = []
  #news = 0
  #unwatch: (() => void) | undefined
  #isFailing = false
  #closed = false

  /** @param failed told of the first of several failures to read in a row; they are tried again */
  constructor(feed: ChangeLog, nameOf: AccountName, failed: (error: unknown) => void) {
    this.#feed = feed
    this.#nameOf = nameOf
    this.#failed = failed
  }

  /** Where a reader starts that wants what comes from now on. */
  head(): Promise<Cursor> {
    return this.#feed.head()
  }

  /**
   * What came after `cursor`, as soon as there is something.
   * @param account its id, undefined for the service: accounts take turns at the database
   */
  async next(cursor: Cursor, signal: AbortSignal, waitMs: number, account?: number): Promise<Step> {
    this.#unwatch ??= this.#closed ? undefined : this.#feed.watch(() => this.#wake())
    const end = performance.now() + waitMs
    for (;;) {
      if (signal.aborted || this.#closed) return { kind: 'ended' }
      const kept = this.#find(cursor)
      if (kept !== undefined) return { kind: 'page', page: kept }
      const read = this.#read(cursor, account)
      const page = await read.result
      if (page === 'gap') return { kind: 'gap' }
      if (page === 'failed') await this.#wait(signal, RETRY_MS)
      else if (page.cursor !== cursor) return { kind: 'page', page }
      else if (read.news === this.#news) await this.#wait(signal, end - performance.now())
      if (performance.now() >= end) return { kind: 'quiet' }
    }
  }

  close(): void {
    this.#closed = true
    this.#unwatch?.()
    this.#wake()
  }

  #wake(): void {
    this.#news++
    for (const wake of this.#waiting) wake()
  }

  /** Until there is news, the reader has gone, or its time is up. */
  #wait(signal: AbortSignal, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', wake)
        this.#waiting.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, Math.max(0, ms))
      if (signal.aborted || this.#closed) return wake()
      signal.addEventListener('abort', wake)
      this.#waiting.add(wake)
    })
  }

  /** The page that begins at `cursor`, or what is left of one that reaches beyond it. */
  #find(cursor: Cursor): EventPage | undefined {
    const exact = this.#kept.find((page) => page.after === cursor)
    if (exact !== undefined) return exact
    const place = partsOf(cursor)
    const page = this.#kept.find(({ after, cursor: end }) => {
      const [from, to] = [partsOf(after), partsOf(end)]
      if (place === undefined || from === undefined || to === undefined) return false
      return from.epoch === place.epoch && from.id < place.id && place.id < to.id
    })
    if (page === undefined || place === undefined) return undefined
    const events = page.events.filter((event) => (partsOf(event.cursor)?.id ?? 0) > place.id)
    return pageOf(cursor, page.cursor, events, page.touchesKeys)
  }

  #read(cursor: Cursor, account: number | undefined): Read {
    // An account's reads wait for each other: nobody else waits with them.
    const client = clientOf(account)
    const key = `${client} ${cursor}`
    const under = this.#reads.get(key)
    if (under !== undefined) return under
    const read: Read = {
      news: this.#news,
      result: this.#slots
        .run(client, async () => this.#find(cursor) ?? this.#readPage(cursor))
        .catch((error: unknown) => {
          if (!this.#isFailing && !this.#closed) this.#failed(error)
          this.#isFailing = true
          return 'failed' as const
        })
        .finally(() => this.#reads.delete(key)),
    }
    this.#reads.set(key, read)
    return read
  }

  async #readPage(cursor: Cursor): Promise<EventPage | 'gap'> {
    // A reader that is far behind must let others have their turns.
    await nextTurn()
    const found = await this.#feed.since(cursor, PAGE)
    if (found.kind === 'gap') return 'gap'
    const events: DomainEvent[] = []
    for (const change of found.changes) {
      const event = await eventOf(change, this.#nameOf)
      if (event !== undefined) events.push(event)
    }
    const touchesKeys = found.changes.some(({ topic }) => topic === 'key')
    const page = pageOf(cursor, found.cursor, events, touchesKeys)
    if (found.cursor !== cursor) this.#kept = [...this.#kept, page].slice(-MAX_KEPT)
    this.#isFailing = false
    return page
  }
}

function pageOf(
  after: Cursor,
  cursor: Cursor,
  events: readonly DomainEvent[],
  touchesKeys: boolean,
): EventPage {
  const texts = new Map<string, Buffer | undefined>()
  const textOf = (filters: Filters) => {
    const text = events.filter((event) => touches(filters, event)).map(frame)
    return text.length === 0 ? undefined : Buffer.from(text.join(''))
  }
  return {
    after,
    cursor,
    events,
    touchesKeys,
    text(filters, key) {
      if (texts.has(key)) return texts.get(key)
      const text = textOf(filters)
      if (texts.size < MAX_TEXTS) texts.set(key, text)
      return text
    },
  }
}

function frame(event: DomainEvent): string {
  return `id: ${event.cursor}\nevent: ${event.kind}\ndata: ${toJson(event)}\n\n`
}
