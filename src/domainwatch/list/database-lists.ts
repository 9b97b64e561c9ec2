import type { Clock } from '../../lib/clock.ts'
import { clientOf } from '../../storage/database/connection-slots.ts'
import type { Database, Reader } from '../../storage/database/database.ts'
import type { SqlValue } from '../../storage/database/sql.ts'
import { visitsManyRecords } from '../queries-filters.ts'
import type { NameSplits } from '../words/split-names.ts'
import { rowsOfStage } from './all-rows.ts'
import { PageBuilder, splitPosition, type ListPage } from './cursor.ts'
import { needsRange, stagesFrom, type Listing } from './order.ts'
import { positionOfRow } from './page-json.ts'
import * as queries from './queries.ts'
import type { ListRange, PageRequest, Source } from './queries.ts'

/** Lists read from the database: when the index is not up to date, and for exports. */
export class DatabaseLists {
  readonly #database: Database
  readonly #clock: Clock
  readonly #splits: NameSplits | undefined

  /** @param splits decides whether the database can filter by words; by default it can */
  constructor(database: Database, clock: Clock, splits?: NameSplits) {
    this.#database = database
    this.#clock = clock
    this.#splits = splits
  }

  /**
   * Returns the rows (`COLUMNS`) of a page.
   * @param account its id: accounts share the database fairly
   */
  async page(listing: Listing, account?: number): Promise<ListPage<SqlValue[]>> {
    await this.#splits?.assertDone(listing.filters)
    const reader = this.#reader(listing, account)
    const sources = await this.#withRanges(reader, listing)
    const pages = new PageBuilder<SqlValue[]>(listing.limit, sources, positionOfRow)
    for (const stage of stagesFrom(listing, sources)) {
      const request = { ...listing, ...stage, limit: pages.wanted }
      if (pages.add(stage, await this.#rowsOf(reader, request))) break
    }
    return pages.build()
  }

  /**
   * The rows (`COLUMNS`) of every match, in parts. Concurrent writes make it neither skip nor repeat a record that did not itself
   * change.
   * @param account its id: accounts share the database fairly
   */
  async *rows(listing: Listing, account?: number): AsyncGenerator<SqlValue[][]> {
    await this.#splits?.assertDone(listing.filters)
    const reader = this.#database.scannerOf(account)
    const sources = await this.#withRanges(reader, listing)
    for (const stage of stagesFrom(listing, sources)) {
      yield* rowsOfStage(this.#database, this.#clock, reader, { ...listing, ...stage })
    }
  }

  async #rowsOf(reader: Reader, request: PageRequest): Promise<SqlValue[][]> {
    const { dialect } = this.#database
    if (!queries.goesThroughTable(dialect, request)) return reader.values(queries.page(dialect, request))
    const near = await reader.values(queries.page(dialect, request, 'near'))
    return near.length === request.limit ? near : reader.values(queries.page(dialect, request, 'table'))
  }

  /** Fixes the ranges, and how sources are read, before the page itself is read. */
  async #withRanges(reader: Reader, listing: Listing): Promise<readonly Source[]> {
    const sources: Source[] = []
    for (const source of listing.sources) {
      const planned = await this.#planned(reader, source, listing)
      if (needsRange(planned, listing)) {
        const ranged = { ...planned, range: await this.#range(reader, planned, listing) }
        sources.push(await this.#planned(reader, ranged, listing))
      } else sources.push(planned)
    }
    return sources
  }

  async #planned(reader: Reader, source: Source, { filters, now }: Listing): Promise<Source> {
    if (source.kind === 'all') return source
    const query = queries.hasManyCandidates(this.#database.dialect, source, filters, now)
    if (query === undefined) return source
    return { ...source, isScanned: (await reader.first(query))?.many === 1 }
  }

  async #range(reader: Reader, source: Source, { filters, now }: Listing): Promise<ListRange | undefined> {
    const ends = await reader.first(queries.rangeOf(this.#database.dialect, source, filters, now))
    if (ends === undefined || ends.low === null || ends.high === null) return undefined
    return { low: splitPosition(ends.low), high: splitPosition(ends.high) }
  }

  /** A list that visits many records must not hold the event loop. */
  #reader(listing: Listing, account: number | undefined): Reader {
    const { filters, sources } = listing
    const stages = stagesFrom(listing, sources)
    const hasIndex = stages.every(({ sortKey }) => queries.hasIndex(sortKey))
    const isByDate =
      stages.every(({ sortKey }) => sortKey === 'date_reg') && sources.every(({ kind }) => kind !== 'deleted')
    const hasStatus = sources.some(({ kind }) => kind !== 'all')
    // A forged cursor may have a range that spans everything.
    const hasRange = sources.some((source) => source.kind !== 'all' && source.range !== undefined)
    const visitsMany = !hasIndex || hasRange || visitsManyRecords(filters, hasStatus, isByDate)
    return visitsMany ? this.#database.scannerOf(account) : this.#database.readerOf(clientOf(account))
  }
}
