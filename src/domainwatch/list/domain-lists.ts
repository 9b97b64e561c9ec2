import type { Clock } from '../../lib/clock.ts'
import { FairSlots } from '../../lib/fair-slots.ts'
import { clientOf } from '../../storage/database/connection-slots.ts'
import type { Database, Reader } from '../../storage/database/database.ts'
import type { SqlValue } from '../../storage/database/sql.ts'
import { VersionedCache } from '../../storage/database/versioned-cache.ts'
import { DISCARDED_LIFETIME_MS } from '../limits.ts'
import type { Filters } from '../filters.ts'
import * as queries from '../queries.ts'
import type { ListRange, PageRequest, Source } from '../queries.ts'
import { cursorOf, encodeCursor, splitPosition, type ListCursor } from './cursor.ts'
import { countMatches } from './count-matches.ts'
import {
  findPage,
  findSorted,
  isLongSearch,
  nameOfHit,
  type FoundPage,
  type IndexSegments,
} from './index-page.ts'
import type { NameIndex } from './name-index.ts'
import { rowsOfStage } from './all-rows.ts'
import type { NameSplits } from '../words/split-names.ts'
import { stagesFrom, type Listing, type Stage } from './order.ts'
import { hitsToJson, positionOfRow, rowsToJson } from './page-json.ts'
import { MAX_PAGE_RECORDS } from '../limits.ts'
import { orderOf, sourcesOf, type ListRequest } from './request.ts'

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

/** Searches in an order that no segment of the index is sorted by: some 20 ms each with a million records. */
const MAX_WAITING = 256
const MAX_WAITING_PER_ACCOUNT = 32
const WAIT_MS = 10_000

/** Small pages are cached until the next write: 16 MB in all. */
const MAX_CACHED = 1_000
const MAX_CACHED_BYTES = 16_384

interface CachedPage {
  readonly page: Page
  /** Milliseconds since 1970. */
  readonly validBefore: number
}

interface CachedCount {
  readonly count: number
  /** Milliseconds since 1970. */
  readonly validBefore: number
}

interface NamePage {
  readonly names: readonly string[]
  readonly next: ListCursor | undefined
}

/** Answers lists: from the index in memory if it is up to date, else from the database. */
export class DomainLists {
  readonly #database: Database
  readonly #clock: Clock
  readonly #nameIndex: Pick<NameIndex, 'current' | 'ifCurrent'> | undefined
  readonly #cache: VersionedCache<CachedPage>
  readonly #counts: VersionedCache<CachedCount>
  /** Searches that visit all matches: one at a time, because they share the event loop. */
  readonly #searches = new FairSlots({
    slots: 1,
    slotsPerClient: 1,
    maxWaiting: MAX_WAITING,
    maxWaitingPerClient: MAX_WAITING_PER_ACCOUNT,
    timeoutMs: WAIT_MS,
  })
  readonly #splits: NameSplits | undefined
  #isSmallAt = { version: -1, isSmall: false }

  /** @param splits decides whether the database can filter by words; by default it can */
  constructor(
    database: Database,
    clock: Clock,
    nameIndex?: Pick<NameIndex, 'current' | 'ifCurrent'>,
    splits?: NameSplits,
  ) {
    this.#splits = splits
    this.#database = database
    this.#clock = clock
    this.#nameIndex = nameIndex
    this.#cache = new VersionedCache(database, 'domain', MAX_CACHED)
    this.#counts = new VersionedCache(database, 'domain', MAX_CACHED)
  }

  /** Returns the page without a wait if the index is up to date and sorted so. */
  pageFromIndex(request: ListRequest, frame = NO_FRAME): Pick<Page, 'json' | 'next'> | undefined {
    const segments = this.#nameIndex?.ifCurrent()
    const found = segments === undefined ? undefined : findPage(segments, this.#listing(request))
    return found && pageOf(found, frame)
  }

  /** @param account its id: accounts share the database and long searches fairly */
  async page(request: ListRequest, frame = NO_FRAME, account?: number): Promise<Page> {
    const found = await this.#find(this.#listing(request), account)
    if (found !== undefined) return pageOf(found, frame)
    const page = await this.#pageOfDatabase(request, account)
    const { before, after } = frame(page.count)
    return { ...page, json: Buffer.concat([before, page.json, after]) }
  }

  /** Undefined if the index is not up to date, or the database answers sooner. */
  async #find(listing: Listing, account: number | undefined): Promise<FoundPage | undefined> {
    const segments = await this.#nameIndex?.current()
    if (segments === undefined) return undefined
    const isLong = isLongSearch(listing)
    return isLong ? this.#findSorted(segments, listing, account) : findPage(segments, listing)
  }

  async #findSorted(
    segments: IndexSegments,
    listing: Listing,
    account: number | undefined,
  ): Promise<FoundPage | undefined> {
    const found = await this.#searches.run(clientOf(account), async () =>
      findSorted((await this.#nameIndex?.current()) ?? segments, listing),
    )
    return found === 'dense' ? undefined : found
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
   * The names of the first `count` matches, in order, except those to skip. Asks for further pages if many are skipped.
   * @param account its id: accounts share the database and long searches fairly
   */
  async firstNames(
    request: ListRequest,
    count: number,
    skipped: ReadonlySet<string>,
    account?: number,
  ): Promise<string[]> {
    const names: string[] = []
    let cursor: ListCursor | undefined
    do {
      const limit = Math.min(MAX_PAGE_RECORDS, count - names.length + skipped.size)
      const page: NamePage = await this.#names({ ...request, limit, cursor }, account)
      for (const name of page.names) if (!skipped.has(name) && names.length < count) names.push(name)
      cursor = page.next
    } while (names.length < count && cursor !== undefined)
    return names
  }

  /**
   * Returns the names of a page instead of its JSON, for answers with more than the index knows.
   * @param account its id: accounts share the database and long searches fairly
   */
  async pageNames(request: ListRequest, account?: number): Promise<PageNames> {
    const { names, next } = await this.#names(request, account)
    return { names, next: next && encodeCursor(next) }
  }

  async #names(request: ListRequest, account: number | undefined): Promise<NamePage> {
    const found = await this.#find(this.#listing(request), account)
    if (found !== undefined) return { names: found.hits.map(nameOfHit), next: found.next }
    const { rows, next } = await this.#readRows(request, account)
    return { names: rows.map(([name]) => String(name)), next }
  }

  /**
   * The number of matches. Cached until the next write.
   * @param account its id: accounts share the database fairly
   */
  async count(filters: Filters, account?: number): Promise<number> {
    const key = JSON.stringify(filters)
    const now = this.#clock.now()
    let fresh: CachedCount | undefined
    const cached = await this.#counts.get(key, async () => (fresh = await this.#count(filters, account)))
    if (cached !== undefined && (cached === fresh || now < cached.validBefore)) return cached.count
    return (await this.#count(filters, account)).count
  }

  async #count(filters: Filters, account: number | undefined): Promise<CachedCount> {
    const now = this.#clock.now()
    const validBefore = await this.#nextExpiry(now)
    const segments = await this.#nameIndex?.current()
    if (segments !== undefined) return { count: await countMatches(segments, filters, now), validBefore }
    const { dialect } = this.#database
    const found = await this.#database.scannerOf(account).first(queries.countMatching(dialect, filters, now))
    return { count: found?.count ?? 0, validBefore }
  }

  /**
   * The rows (`COLUMNS` of the queries) of every match, in parts. Concurrent writes make it neither skip nor repeat a record
   * that did not itself change.
   * @param account its id: accounts share the database fairly
   */
  async *rows(request: ListRequest, account?: number): AsyncGenerator<SqlValue[][]> {
    await this.#splits?.assertDone(request.filters)
    const reader = this.#database.scannerOf(account)
    const listing = this.#listing(request)
    const sources = await this.#withRanges(reader, listing)
    for (const stage of stagesFrom(listing, sources)) {
      yield* rowsOfStage(this.#database, this.#clock, reader, { ...listing, ...stage })
    }
  }

  /** Without any write a page changes only when a discarded record expires. */
  async #toCache(page: Page, now: number): Promise<CachedPage> {
    return { page, validBefore: await this.#nextExpiry(now) }
  }

  /** When the next discarded record expires: milliseconds since 1970. */
  async #nextExpiry(now: number): Promise<number> {
    const first = await this.#database.first(queries.firstDiscarded(now))
    return (first?.marked_at ?? Infinity) + DISCARDED_LIFETIME_MS
  }

  async #read(request: ListRequest, account: number | undefined): Promise<Page> {
    const { rows, next } = await this.#readRows(request, account)
    return {
      json: Buffer.from(rowsToJson(rows)),
      count: rows.length,
      next: next && encodeCursor(next),
    }
  }

  async #readRows(
    request: ListRequest,
    account: number | undefined,
  ): Promise<{ readonly rows: readonly SqlValue[][]; readonly next: ListCursor | undefined }> {
    const listing = this.#listing(request)
    await this.#splits?.assertDone(request.filters)
    const reader = await this.#reader(request, listing, account)
    const sources = await this.#withRanges(reader, listing)
    const rows: SqlValue[][] = []
    let next: ListCursor | undefined
    let last: { readonly row: readonly SqlValue[]; readonly stage: Stage } | undefined
    for (const stage of stagesFrom(listing, sources)) {
      // One more than requested shows whether there is a next page.
      const limit = listing.limit - rows.length + 1
      const found = await this.#rowsOf(reader, { ...listing, ...stage, limit })
      const taken = found.slice(0, limit - 1)
      rows.push(...taken)
      const row = taken.at(-1)
      if (row !== undefined) last = { row, stage }
      if (found.length < limit) continue
      if (last !== undefined)
        next = cursorOf(sources, positionOfRow(last.row, last.stage.sortKey), last.stage)
      break
    }
    return { rows, next }
  }

  async #rowsOf(reader: Reader, request: PageRequest): Promise<SqlValue[][]> {
    const { dialect } = this.#database
    if (!queries.goesThroughTable(dialect, request)) return reader.values(queries.page(dialect, request))
    const near = await reader.values(queries.page(dialect, request, 'near'))
    return near.length === request.limit ? near : reader.values(queries.page(dialect, request, 'table'))
  }

  #listing(request: ListRequest): Listing {
    const { filters, lastRegister, lastDeleted, ascending, cursor } = request
    const sources = sourcesOf(request)
    // The lists of `last_register` and `last_deleted` come whole unless a limit asks for pages.
    const isAll = sources.every(({ kind }) => kind === 'all')
    const whole = isAll ? MAX_PAGE_RECORDS : (lastRegister ?? 0) + (lastDeleted ?? 0)
    return {
      sources,
      filters,
      order: orderOf(request),
      ascending,
      after: cursor?.after,
      stage: cursor?.stage,
      limit: request.limit ?? whole,
      now: this.#clock.now(),
    }
  }

  /**
   * Under `last_register` and `last_deleted` the first page of several fixes the range that all of them are drawn from, before
   * it is read itself: a record that is added in between must not push another out.
   */
  async #withRanges(reader: Reader, listing: Listing): Promise<readonly Source[]> {
    const wanted = listing.sources.reduce(
      (sum, source) => sum + (source.kind === 'all' ? 0 : source.newest),
      0,
    )
    if (wanted <= listing.limit) return listing.sources
    const sources: Source[] = []
    for (const source of listing.sources) {
      const isComplete = source.kind === 'all' || source.range !== undefined
      sources.push(isComplete ? source : { ...source, range: await this.#range(reader, source, listing) })
    }
    return sources
  }

  async #range(reader: Reader, source: Source, { filters, now }: Listing): Promise<ListRange | undefined> {
    const ends = await reader.first(queries.rangeOf(this.#database.dialect, source, filters, now))
    if (ends === undefined || ends.low === null || ends.high === null) return undefined
    return { low: splitPosition(ends.low), high: splitPosition(ends.high) }
  }

  /** A list that visits many records must not hold the event loop. */
  async #reader(
    { filters, lastRegister, lastDeleted }: ListRequest,
    listing: Listing,
    account: number | undefined,
  ): Promise<Reader> {
    const hasIndex = stagesFrom(listing, listing.sources).every(({ sortKey }) => queries.hasIndex(sortKey))
    const hasStatus = (lastRegister ?? lastDeleted) !== undefined
    const visitsMany = !hasIndex || queries.visitsManyRecords(filters, hasStatus)
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

function pageOf({ hits, next }: FoundPage, frame: Frame): Page {
  const { before, after } = frame(hits.length)
  return { json: hitsToJson(hits, before, after), count: hits.length, next: next && encodeCursor(next) }
}
