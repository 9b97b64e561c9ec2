import type { Clock } from '../lib/clock.ts'
import type { Database, Reader } from '../storage/database/database.ts'
import type { SqlValue } from '../storage/database/sql.ts'
import { VersionedCache } from '../storage/database/versioned-cache.ts'
import { encodeCursor, placeOf } from './cursor.ts'
import { DISCARDED_LIFETIME_MS } from './discarding.ts'
import { MAX_PAGE, type ListRequest } from './list/request.ts'
import * as queries from './queries.ts'
import { placeOfRow, recordsToJson } from './page-json.ts'
import type { PageRequest, Place, Source, Span } from './queries.ts'
import { find, placeOfHit, type Found } from './search/answer.ts'
import type { Catalogue } from './search/catalogue.ts'
import { pageBytes, type Room } from './search/page-bytes.ts'

/** Up to so many records, visiting all of them takes less than a trip to another thread. */
const SMALL_TABLE = 2_000

/** What an answer says before and behind the records of a page, by how many they are. */
export type Frame = (count: number) => { readonly before: Buffer; readonly behind: Buffer }

const NOTHING = Buffer.alloc(0)
const NO_FRAME: Frame = () => ({ before: NOTHING, behind: NOTHING })

export interface Page {
  /** A JSON array of records, in UTF-8, in its frame. */
  readonly json: Buffer
  readonly count: number
  /** Where the next page starts; undefined on the last one. */
  readonly next: string | undefined
}

export interface PageAtHand extends Pick<Page, 'next'> {
  /** Its JSON, in memory of its own where no other is given. */
  write(room?: Room): Buffer
}

/** Records read at a time where all of them are wanted: some 4 ms for the connection that others wait for. */
const PART = 2_000

/** Small pages kept until something is written, and how long one's JSON may be: 16 MB in all. */
const MAX_KEPT = 1_000
const MAX_KEPT_LENGTH = 16_384

interface Kept {
  readonly page: Page
  /** Milliseconds since 1970. */
  readonly validBefore: number
}

/** Answers lists: from memory where all records are there as they are now, else from the database. */
export class DomainLists {
  readonly #database: Database
  readonly #clock: Clock
  readonly #catalogue: Pick<Catalogue, 'current' | 'atHand'> | undefined
  readonly #kept: VersionedCache<Kept>
  #small = { version: -1, yes: false }

  constructor(database: Database, clock: Clock, catalogue?: Pick<Catalogue, 'current' | 'atHand'>) {
    this.#database = database
    this.#clock = clock
    this.#catalogue = catalogue
    this.#kept = new VersionedCache(database, 'domain', MAX_KEPT)
  }

  /** The page where all is in memory as it is now. It is written when that is asked for, in the same turn of the event loop. */
  pageAtHand(request: ListRequest, frame = NO_FRAME): PageAtHand | undefined {
    const shelves = this.#catalogue?.atHand()
    const asked = this.#pageRequest(request)
    const found = shelves === undefined ? undefined : find(shelves, asked)
    if (found === undefined) return undefined
    return { next: nextOf(asked, found), write: (room) => jsonOf(found, frame, room) }
  }

  /** @param account its id: accounts share the database fairly */
  async page(request: ListRequest, frame = NO_FRAME, account?: number): Promise<Page> {
    const shelves = await this.#catalogue?.current()
    const asked = this.#pageRequest(request)
    const found = shelves === undefined ? undefined : find(shelves, asked)
    if (found !== undefined)
      return { json: jsonOf(found, frame), count: found.hits.length, next: nextOf(asked, found) }
    const page = await this.#pageOfDatabase(request, account)
    const { before, behind } = frame(page.count)
    return { ...page, json: Buffer.concat([before, page.json, behind]) }
  }

  async #pageOfDatabase(request: ListRequest, account: number | undefined): Promise<Page> {
    let fresh: Page | undefined
    const kept = await this.#kept.get(JSON.stringify(request), async () => {
      const now = this.#clock.now()
      fresh = await this.#read(request, account)
      return fresh.json.length > MAX_KEPT_LENGTH ? undefined : this.#toKeep(fresh, now)
    })
    if (fresh !== undefined) return fresh
    return kept !== undefined && this.#clock.now() < kept.validBefore
      ? kept.page
      : this.#read(request, account)
  }

  /**
   * The rows (`COLUMNS` of the queries) of every match, in parts. Those who write meanwhile neither make it skip nor
   * repeat a record that did not itself change.
   * @param account its id: accounts share the database fairly
   */
  async *rows(request: ListRequest, account?: number): AsyncGenerator<SqlValue[][]> {
    const reader = this.#database.scannerOf(account)
    let part = await this.#withSpans(reader, { ...this.#pageRequest(request), limit: PART })
    for (;;) {
      const rows = await reader.values(queries.page(this.#database.dialect, part))
      if (rows.length > 0) yield rows
      const last = rows.at(-1)
      if (last === undefined || rows.length < part.limit) return
      part = { ...part, after: placeOfRow(last, part.sortKey), now: this.#clock.now() }
    }
  }

  /** Without any write a page changes only when a discarded record comes to the end of its days. */
  async #toKeep(page: Page, now: number): Promise<Kept> {
    const first = await this.#database.first(queries.firstDiscarded(now))
    const markedAt = first?.marked_at ?? Infinity
    return { page, validBefore: markedAt + DISCARDED_LIFETIME_MS }
  }

  async #read(request: ListRequest, account: number | undefined): Promise<Page> {
    const reader = await this.#reader(request, account)
    const pageRequest = await this.#withSpans(reader, this.#pageRequest(request))
    // One more than shown tells whether there is a next page.
    const limit = pageRequest.limit + 1
    const rows = await this.#rowsOf(reader, { ...pageRequest, limit })
    const hasNext = rows.length === limit
    if (hasNext) rows.pop()
    const last = rows.at(-1)
    const next =
      hasNext && last !== undefined
        ? nextCursor(pageRequest.sources, placeOfRow(last, pageRequest.sortKey))
        : undefined
    return { json: Buffer.from(recordsToJson(rows)), count: rows.length, next }
  }

  async #rowsOf(reader: Reader, request: PageRequest): Promise<SqlValue[][]> {
    const { dialect } = this.#database
    if (!queries.goesThroughTable(dialect, request)) return reader.values(queries.page(dialect, request))
    const near = await reader.values(queries.page(dialect, request, 'near'))
    return near.length === request.limit ? near : reader.values(queries.page(dialect, request, 'table'))
  }

  #pageRequest(request: ListRequest): PageRequest {
    const { filters, lastRegister, lastDeleted, ascending, cursor } = request
    const sources: Source[] = []
    if (lastRegister !== undefined) {
      sources.push({ kind: 'registered', newest: lastRegister, span: cursor?.registered })
    }
    if (lastDeleted !== undefined)
      sources.push({ kind: 'deleted', newest: lastDeleted, span: cursor?.deleted })
    // The lists of `last_register` and `last_deleted` come whole unless a limit asks for pages.
    const whole = sources.length === 0 ? MAX_PAGE : (lastRegister ?? 0) + (lastDeleted ?? 0)
    return {
      sources: sources.length === 0 ? [{ kind: 'all' }] : sources,
      filters,
      sortKey: lastDeleted !== undefined && lastRegister === undefined ? 'deleted_at' : 'date_reg',
      ascending,
      after: cursor?.after,
      limit: request.limit ?? whole,
      now: this.#clock.now(),
    }
  }

  /**
   * Under `last_register` and `last_deleted` the first page of several settles which records all of them are drawn
   * from, before it is read itself: a record added in between must not push another out.
   */
  async #withSpans(reader: Reader, request: PageRequest): Promise<PageRequest> {
    const wanted = request.sources.reduce(
      (sum, source) => sum + (source.kind === 'all' ? 0 : source.newest),
      0,
    )
    if (wanted <= request.limit) return request
    const sources: Source[] = []
    for (const source of request.sources) {
      const isSettled = source.kind === 'all' || source.span !== undefined
      sources.push(isSettled ? source : { ...source, span: await this.#span(reader, source, request) })
    }
    return { ...request, sources }
  }

  async #span(reader: Reader, source: Source, shown: PageRequest): Promise<Span | undefined> {
    const query = queries.spanOf(this.#database.dialect, source, shown.filters, shown.now)
    const ends = await reader.first(query)
    if (ends === undefined || ends.low === null || ends.high === null) return undefined
    return { low: placeOf(ends.low), high: placeOf(ends.high) }
  }

  /** A list that visits many records must not hold the event loop. */
  async #reader(
    { filters, lastRegister, lastDeleted }: ListRequest,
    account: number | undefined,
  ): Promise<Reader> {
    const visitsMany = queries.visitsManyRecords(filters, (lastRegister ?? lastDeleted) !== undefined)
    return visitsMany && !(await this.#isSmall()) ? this.#database.scannerOf(account) : this.#database
  }

  async #isSmall(): Promise<boolean> {
    const version = this.#database.version('domain')
    if (version !== this.#small.version) {
      const beyond = await this.#database.first(queries.moreThan(SMALL_TABLE))
      this.#small = { version, yes: beyond === undefined }
    }
    return this.#small.yes
  }
}

function nextOf({ sortKey }: PageRequest, { hits, hasNext, sources }: Found): string | undefined {
  const last = hasNext ? hits.at(-1) : undefined
  return last && nextCursor(sources, placeOfHit(last, sortKey === 'deleted_at' ? 'keys' : 'registered'))
}

function jsonOf({ hits }: Found, frame: Frame, room?: Room): Buffer {
  const { before, behind } = frame(hits.length)
  return pageBytes(hits, before, behind, room)
}

function nextCursor(sources: readonly Source[], after: Place): string {
  const spans: { registered?: Span; deleted?: Span } = {}
  for (const source of sources) {
    if (source.kind !== 'all' && source.span !== undefined) spans[source.kind] = source.span
  }
  return encodeCursor({ after, ...spans })
}
