import { setImmediate as nextTurn } from 'node:timers/promises'
import { ChangePages, eventsAfter, type EventPage } from '../../deliveries/change-pages.ts'
import type { ChangeLog } from '../../storage/database/changes/change-log.ts'
import type { Change, Cursor } from '../../storage/database/changes/change.ts'
import type { Filters } from '../filters.ts'
import { concerns, eventOf, toJson, type ChangeReading, type Changes, type DomainEvent } from './event.ts'
import { Gate } from '../../lib/gate.ts'
import { accountClient } from '../../lib/client.ts'
import { type Database, VersionedCache } from '../../storage/database/database.ts'
import { atomFeed, type AtomFeed, entryOf } from './atom.ts'

/** Distinct filters per page whose serialised text is cached. A text may be as large as its page. */
const MAX_CACHED_TEXTS = 16

interface DomainPage extends EventPage<DomainEvent> {
  /** True if a key was created or revoked. */
  readonly touchesKeys: boolean
  /** Returns the events that concern the filters as server-sent events, or undefined if there are none. Cached per key. */
  text(changes: Changes, filters: Filters, key: string): Buffer | undefined
}

/** The changes of records and of their DNS. */
export type EventPages = ChangePages<DomainPage>

/** @param failed called for the first of several consecutive failed reads, which are retried */
function openEventPages(
  log: ChangeLog,
  reading: ChangeReading,
  failed: (error: unknown) => void,
): EventPages {
  const pages = {
    async toPage(after: Cursor, cursor: Cursor, changes: readonly Change[]) {
      // Read after the changes, so that no rule that precedes one is missing.
      const { hides } = await reading.rules.current()
      const events: DomainEvent[] = []
      for (const change of changes) {
        const event = await eventOf(change, reading, hides)
        if (event !== undefined) events.push(event)
      }
      return pageOf(
        after,
        cursor,
        events,
        changes.some(({ topic }) => topic === 'key'),
      )
    },
    withoutRead: ({ cursor, events, touchesKeys }: DomainPage, after: Cursor) =>
      pageOf(after, cursor, eventsAfter(events, after), touchesKeys),
  }
  return new ChangePages(log, pages, failed)
}

function pageOf(
  after: Cursor,
  cursor: Cursor,
  events: readonly DomainEvent[],
  touchesKeys: boolean,
): DomainPage {
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

/** Interval of heartbeats on an idle stream, and of checks of the client's key. */
const HEARTBEAT_MS = 15_000
/** How long clients wait before they reconnect. */
const RETRY_MS = 3_000
/** Atom feeds cached until the next change. Most take less than 80 KB. */
const MAX_CACHED_ATOM_FEEDS = 50
/** Changes searched for the entries of an Atom feed, newest first. */
const MAX_SEARCHED_CHANGES = 50_000

const GAP = JSON.stringify({
  msg: 'Los cambios desde el último evento ya no están disponibles: vuelva a leer la lista',
})

interface EventsOptions {
  readonly database: Database
  readonly reading: ChangeReading
  /** Concurrent streams of this process. */
  readonly maxStreams: number
  readonly searches: Gate
  /** Called for the first of several consecutive failures to read changes. */
  readonly failed: (error: unknown) => void
}

interface StreamRequest {
  readonly filters: Filters
  readonly changes: Changes
  /** The last event that the client received. If undefined, the stream starts with the next change. */
  readonly after: Cursor | undefined
  /** Id of the client's account. */
  readonly account: number
  /** Resolves to false once the client's key is revoked. */
  readonly isCurrent: () => Promise<boolean>
  /** Returns the milliseconds until the client's key expires. */
  readonly expiresIn: () => number
  /** Aborts when the stream has to end. */
  readonly signal: AbortSignal
}

/** Changes of records, as streams and as Atom feeds. */
export class Events {
  readonly pages: EventPages
  /** Streams that are open. */
  readonly streams: Gate
  /** Aborts when all of them have to end. */
  readonly stopping = new AbortController()
  readonly #database: Database
  readonly #reading: ChangeReading
  readonly #atomFeeds: VersionedCache<AtomFeed>
  readonly #searches: Gate

  constructor({ database, reading, maxStreams, searches, failed }: EventsOptions) {
    this.#database = database
    this.#reading = reading
    this.#searches = searches
    this.pages = openEventPages(database.changes, reading, failed)
    this.streams = new Gate({ running: maxStreams, perClient: Math.ceil(maxStreams / 2), waiting: 0 })
    this.#atomFeeds = new VersionedCache(database, ['domain', 'dns'], MAX_CACHED_ATOM_FEEDS)
  }

  /**
   * Yields server-sent events (HTML Living Standard, section 9.2) until the stream ends. The head and some
   * heartbeats carry an `id` without data, which is not an event but the position from which the client can resume.
   */
  async *stream(request: StreamRequest): AsyncGenerator<string | Buffer> {
    const { filters, changes, account, isCurrent, expiresIn, signal } = request
    const key = `${changes} ${JSON.stringify(filters)}`
    let position = request.after ?? (await this.pages.head())
    let sentPosition = position
    let sentAt = performance.now()
    let checkedAt = sentAt
    yield `retry: ${RETRY_MS}\nid: ${position}\n\n`
    for (;;) {
      const heartbeatIn = sentAt + HEARTBEAT_MS - performance.now()
      const step = await this.pages.next(position, signal, Math.min(heartbeatIn, expiresIn()), account)
      if (expiresIn() <= 0 || step.kind === 'ended') return
      let text: string | Buffer | undefined
      if (step.kind === 'gap') {
        position = sentPosition = await this.pages.head()
        text = `id: ${position}\nevent: gap\ndata: ${GAP}\n\n`
      } else if (step.kind === 'page') {
        position = step.page.cursor
        text = step.page.text(changes, filters, key)
      }
      const touchesKeys = step.kind === 'page' && step.page.touchesKeys
      if (touchesKeys || performance.now() - checkedAt >= HEARTBEAT_MS) {
        // A database failure says nothing about the key.
        if (!(await isCurrent().catch(() => true))) return
        checkedAt = performance.now()
      }
      if (text === undefined && performance.now() - sentAt >= HEARTBEAT_MS) {
        text = sentPosition === position ? ':\n\n' : `:\nid: ${position}\n\n`
        sentPosition = position
      }
      if (text === undefined) continue
      sentAt = performance.now()
      yield text
    }
  }

  /**
   * Returns an Atom feed of the newest events that concern the filters.
   * @param signal ends the search for them
   * @throws OverloadError if too many Atom feeds wait
   */
  async atomFeed(
    changes: Changes,
    filters: Filters,
    limit: number,
    sheetUrl: (name: string) => string,
    account: number,
    signal: AbortSignal,
  ): Promise<AtomFeed> {
    // The id of a feed must not change, and is derived from the former names of these filters.
    const filterKey = JSON.stringify(filters).replace(/"(min|max)_length":/g, '"$1Length":')
    const key = changes === 'all' ? filterKey : `${changes} ${filterKey}`
    const rules = filters.hidden === undefined ? undefined : await this.#reading.rules.current()
    const cacheKey = `${limit} ${rules?.version} ${key}`
    const known = this.#atomFeeds.peek(cacheKey)
    if (known !== undefined) return known
    const client = accountClient(account)
    const make = async () => {
      const events = await this.#newest(changes, filters, limit, signal)
      const entries = events.map((event) => entryOf(event, 'es'))
      return atomFeed(`eventos ${key}`, 'cambios', entries, sheetUrl, 'es')
    }
    return this.#searches.run(client, () => this.#atomFeeds.get(cacheKey, make), signal)
  }

  /** Returns the newest events that concern the filters, newest first. */
  async #newest(
    changes: Changes,
    filters: Filters,
    limit: number,
    signal: AbortSignal,
  ): Promise<DomainEvent[]> {
    const { hides } = await this.#reading.rules.current()
    const found: DomainEvent[] = []
    for await (const page of this.#database.changes.newest(MAX_SEARCHED_CHANGES)) {
      signal.throwIfAborted()
      for (const change of page) {
        const event = await eventOf(change, this.#reading, hides)
        if (event === undefined || !concerns(changes, filters, event)) continue
        found.push(event)
        if (found.length === limit) return found
      }
      await nextTurn()
    }
    return found
  }
}
