import type { Clock } from '../../lib/clock.ts'
import type { Database, Reader } from '../../storage/database/database.ts'
import type { SqlValue } from '../../storage/database/sql.ts'
import { VersionedCache } from '../../storage/database/versioned-cache.ts'
import { DISCARDED_LIFETIME_MS } from '../discarding.ts'
import * as queries from '../queries.ts'
import type { ListPosition, ListRange, PageRequest, Source } from '../queries.ts'
import { encodeCursor, splitPosition } from './cursor.ts'
import { findPage, positionOfHit, type FoundPage } from './index-page.ts'
import type { NameIndex } from './name-index.ts'
import { hitsToJson, positionOfRow, rowsToJson } from './page-json.ts'
import { MAX_PAGE, type ListRequest } from './request.ts'

/** Visiting this many records takes less time than a round trip to another thread. */
const SMALL_TABLE = 2_000

/** What an answer contains before and after the records of a page, by their number. */
export type Frame = (count: number) => { readonly before: Buffer; readonly after: Buffer }

const NOTHING = Buffer.alloc(0)
const NO_FRAME: Frame = () => ({ before: NOTHING, after: NOTHING })

export interface Page {
  /** A JSON array of records, in UTF-8, in its frame. */
  readonly json: Buffer
  readonly count: number
  /** The cursor of the next page; undefined on the last one. */
  readonly next: string | undefined
}

export interface PageNames extends Pick<Page, 'next'> {
  readonly names: readonly string[]
}

/** Records read at a time when all are exported: some 4 ms for the connection that others wait for. */
const PART = 2_000

/** Small pages are cached until the next write: 16 MB in all. */
const MAX_CACHED = 1_000
const MAX_CACHED_BYTES = 16_384

interface CachedPage {
  readonly page: Page
  /** Milliseconds since 1970. */
  readonly validBefore: number
}

/** Answers lists: from the index in memory if it is up to date, else from the database. */
export class DomainLists {
  readonly #database: Database
  readonly #clock: Clock
  readonly #nameIndex: Pick<NameIndex, 'current' | 'ifCurrent'> | undefined
  readonly #cache: VersionedCache<CachedPage>
  #isSmallAt = { version: -1, isSmall: false }

  constructor(database: Database, clock: Clock, nameIndex?: Pick<NameIndex, 'current' | 'ifCurrent'>) {
    this.#database = database
    this.#clock = clock
    this.#nameIndex = nameIndex
    this.#cache = new VersionedCache(database, 'domain', MAX_CACHED)
  }

  /** Returns the page without a wait if the index is up to date. */
  pageFromIndex(request: ListRequest, frame = NO_FRAME): Pick<Page, 'json' | 'next'> | undefined {
    const segments = this.#nameIndex?.ifCurrent()
    const asked = this.#pageRequest(request)
    const found = segments === undefined ? undefined : findPage(segments, asked)
    if (found === undefined) return undefined
    return { json: jsonOf(found, frame), next: nextOf(asked, found) }
  }

  /** @param account its id: accounts share the database fairly */
  async page(request: ListRequest, frame = NO_FRAME, account?: number): Promise<Page> {
    const segments = await this.#nameIndex?.current()
    const asked = this.#pageRequest(request)
    const found = segments === undefined ? undefined : findPage(segments, asked)
    if (found !== undefined)
      return { json: jsonOf(found, frame), count: found.hits.length, next: nextOf(asked, found) }
    const page = await this.#pageOfDatabase(request, account)
    const { before, after } = frame(page.count)
    return { ...page, json: Buffer.concat([before, page.json, after]) }
  }

  /**
   * Returns the names of a page instead of its JSON, for answers with more than the index knows.
   * @param account its id: accounts share the database fairly
   */
  async pageNames(request: ListRequest, account?: number): Promise<PageNames> {
    const segments = await this.#nameIndex?.current()
    const asked = this.#pageRequest(request)
    const found = segments === undefined ? undefined : findPage(segments, asked)
    if (found !== undefined)
      return {
        names: found.hits.map((hit) => positionOfHit(hit, 'registered').name),
        next: nextOf(asked, found),
      }
    const { rows, next } = await this.#readRows(request, account)
    return { names: rows.map(([name]) => String(name)), next }
  }

  async #pageOfDatabase(request: ListRequest, account: number | undefined): Promise<Page> {
    let fresh: Page | undefined
    const cached = await this.#cache.get(JSON.stringify(request), async () => {
      const now = this.#clock.now()
      fresh = await this.#read(request, account)
      return fresh.json.length > MAX_CACHED_BYTES ? undefined : this.#toCache(fresh, now)
    })
    if (fresh !== undefined) return fresh
    return cached !== undefined && this.#clock.now() < cached.validBefore
      ? cached.page
      : this.#read(request, account)
  }

  /**
   * The rows (`COLUMNS` of the queries) of every match, in parts. Concurrent writes make it neither skip nor repeat a record
   * that did not itself change.
   * @param account its id: accounts share the database fairly
   */
  async *rows(request: ListRequest, account?: number): AsyncGenerator<SqlValue[][]> {
    const reader = this.#database.scannerOf(account)
    let part = await this.#withRanges(reader, { ...this.#pageRequest(request), limit: PART })
    for (;;) {
      const rows = await reader.values(queries.page(this.#database.dialect, part))
      if (rows.length > 0) yield rows
      const last = rows.at(-1)
      if (last === undefined || rows.length < part.limit) return
      part = { ...part, after: positionOfRow(last, part.sortKey), now: this.#clock.now() }
    }
  }

  /** Without any write a page changes only when a discarded record expires. */
  async #toCache(page: Page, now: number): Promise<CachedPage> {
    const first = await this.#database.first(queries.firstDiscarded(now))
    const markedAt = first?.marked_at ?? Infinity
    return { page, validBefore: markedAt + DISCARDED_LIFETIME_MS }
  }

  async #read(request: ListRequest, account: number | undefined): Promise<Page> {
    const { rows, next } = await this.#readRows(request, account)
    return { json: Buffer.from(rowsToJson(rows)), count: rows.length, next }
  }

  async #readRows(request: ListRequest, account: number | undefined) {
    const reader = await this.#reader(request, account)
    const pageRequest = await this.#withRanges(reader, this.#pageRequest(request))
    // One more than requested shows whether there is a next page.
    const limit = pageRequest.limit + 1
    const rows = await this.#rowsOf(reader, { ...pageRequest, limit })
    const hasNext = rows.length === limit
    if (hasNext) rows.pop()
    const last = rows.at(-1)
    const next =
      hasNext && last !== undefined
        ? nextCursor(pageRequest.sources, positionOfRow(last, pageRequest.sortKey))
        : undefined
    return { rows, next }
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
      sources.push({ kind: 'registered', newest: lastRegister, range: cursor?.registered })
    }
    if (lastDeleted !== undefined)
      sources.push({ kind: 'deleted', newest: lastDeleted, range: cursor?.deleted })
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
   * Under `last_register` and `last_deleted` the first page of several fixes the range that all of them are drawn from, before
   * it is read itself: a record that is added in between must not push another out.
   */
  async #withRanges(reader: Reader, request: PageRequest): Promise<PageRequest> {
    const wanted = request.sources.reduce(
      (sum, source) => sum + (source.kind === 'all' ? 0 : source.newest),
      0,
    )
    if (wanted <= request.limit) return request
    const sources: Source[] = []
    for (const source of request.sources) {
      const isComplete = source.kind === 'all' || source.range !== undefined
      sources.push(isComplete ? source : { ...source, range: await this.#range(reader, source, request) })
    }
    return { ...request, sources }
  }

  async #range(reader: Reader, source: Source, page: PageRequest): Promise<ListRange | undefined> {
    const query = queries.rangeOf(this.#database.dialect, source, page.filters, page.now)
    const ends = await reader.first(query)
    if (ends === undefined || ends.low === null || ends.high === null) return undefined
    return { low: splitPosition(ends.low), high: splitPosition(ends.high) }
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
    if (version !== this.#isSmallAt.version) {
      const beyond = await this.#database.first(queries.moreThan(SMALL_TABLE))
      this.#isSmallAt = { version, isSmall: beyond === undefined }
    }
    return this.#isSmallAt.isSmall
  }
}

function nextOf({ sortKey }: PageRequest, { hits, hasNext, sources }: FoundPage): string | undefined {
  const last = hasNext ? hits.at(-1) : undefined
  return last && nextCursor(sources, positionOfHit(last, sortKey === 'deleted_at' ? 'keys' : 'registered'))
}

function jsonOf({ hits }: FoundPage, frame: Frame): Buffer {
  const { before, after } = frame(hits.length)
  return hitsToJson(hits, before, after)
}

function nextCursor(sources: readonly Source[], after: ListPosition): string {
  const ranges: { registered?: ListRange; deleted?: ListRange } = {}
  for (const source of sources) {
    if (source.kind !== 'all' && source.range !== undefined) ranges[source.kind] = source.range
  }
  return encodeCursor({ after, ...ranges })
}
