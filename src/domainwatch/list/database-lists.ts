import type { Clock } from '../../lib/clock.ts'
import { accountClient } from '../../lib/client.ts'
import type { Database, Reader } from '../../storage/database/database.ts'
import type { SqlValue } from '../../storage/database/sql.ts'
import { visitsManyRecords } from '../queries-filters.ts'
import type { NameSplits } from '../words/split-names.ts'
import { PageBuilder, splitPosition, type ListPage } from './cursor.ts'
import { needsRange, stagesFrom, type Listing } from './order.ts'
import { positionOfRow } from './page-json.ts'
import * as queries from './queries.ts'
import type { ListRange, PageRequest, Source, ListPosition } from './queries.ts'
import type { Dialect } from '../../storage/database/dialect.ts'

const SIZES = {
  /** Records read at a time: some 4 ms on the shared connection. */
  part: 2_000,
  /** Positions found in one pass over the table: some 6 MB. */
  pass: 50_000,
  /** Records of an index that are visited at a time where few match: each is fetched separately, so others wait some 100 ms. */
  stretch: 5_000,
  /** Records of the table that are visited at a time, in the order that they are stored in: 10 to 30 ms. */
  scan: 20_000,
}

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

  /** Returns the rows (`COLUMNS`) of a page. */
  async page(listing: Listing, account?: number, signal?: AbortSignal): Promise<ListPage<SqlValue[]>> {
    await this.#splits?.assertDone(listing.filters)
    const reader = this.#reader(listing, account, signal)
    const sources = await this.#withRanges(reader, listing)
    const pages = new PageBuilder<SqlValue[]>(listing.limit, sources, positionOfRow)
    for (const stage of stagesFrom(listing, sources)) {
      const request = { ...listing, ...stage, limit: pages.wanted }
      if (pages.add(stage, await this.#rowsOf(reader, request))) break
    }
    return pages.build()
  }

  /** The rows (`COLUMNS`) of every match, in parts; see `rowsOfStage`. */
  async *rows(listing: Listing, account?: number, signal?: AbortSignal): AsyncGenerator<SqlValue[][]> {
    await this.#splits?.assertDone(listing.filters)
    const reader = this.#database.scannerOf(account, signal)
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
  #reader(listing: Listing, account: number | undefined, signal: AbortSignal | undefined): Reader {
    const { filters, sources } = listing
    const stages = stagesFrom(listing, sources)
    const hasIndex = stages.every(({ sortKey }) => queries.hasIndex(sortKey))
    const isByDate =
      stages.every(({ sortKey }) => sortKey === 'date_reg') && sources.every(({ kind }) => kind !== 'deleted')
    const hasStatus = sources.some(({ kind }) => kind !== 'all')
    // A forged cursor may have a range that spans everything.
    const hasRange = sources.some((source) => source.kind !== 'all' && source.range !== undefined)
    const visitsMany = !hasIndex || hasRange || visitsManyRecords(filters, hasStatus, isByDate)
    return visitsMany
      ? this.#database.scannerOf(account, signal)
      : this.#database.readerOf(accountClient(account))
  }
}

type RowsOfRequest = (
  database: Pick<Database, 'dialect'>,
  clock: Clock,
  reader: Reader,
  request: PageRequest,
  sizes?: typeof SIZES,
) => AsyncGenerator<SqlValue[][]>

/**
 * The rows (`COLUMNS` of the queries) of every match of a stage, in parts, whatever its limit. Concurrent writes make it neither
 * skip nor repeat a record that did not itself change.
 */
export const rowsOfStage: RowsOfRequest = (database, clock, reader, request, sizes) => {
  const inPasses = queries.isOfAll(request.sources) && !queries.hasIndex(request.sortKey)
  return (inPasses ? rowsOfPasses : rowsInOrder)(database, clock, reader, request, sizes)
}

/** Each part continues after the previous one, in one stretch of the index after the other. */
const rowsInOrder: RowsOfRequest = async function* ({ dialect }, clock, reader, request, sizes = SIZES) {
  for (let part: PageRequest = { ...request, limit: sizes.part, inOrder: true }; ;) {
    const end = queries.endOfStretch(dialect, part, sizes.stretch)
    const upTo = end && (await reader.first(end))
    for (let isMore = true; isMore;) {
      const rows = await reader.values(queries.page(dialect, { ...part, upTo }))
      if (rows.length > 0) yield rows
      const last = rows.at(-1)
      isMore = last !== undefined && rows.length === sizes.part
      if (last !== undefined) part = { ...part, after: positionOfRow(last, part.sortKey), now: clock.now() }
    }
    if (upTo === undefined) return
    part = { ...part, after: upTo, now: clock.now() }
  }
}

/** In an order without an index: each pass over the table finds the positions of many records, whose rows are then read in parts. */
const rowsOfPasses: RowsOfRequest = async function* ({ dialect }, clock, reader, request, sizes = SIZES) {
  for (let pass: PageRequest = { ...request, limit: sizes.pass }; ;) {
    const lines = await firstPlaces(dialect, reader, pass, sizes.scan)
    for (let at = 0; at < lines.length; at += sizes.part) {
      const names = lines.slice(at, at + sizes.part).map((line) => positionOf(line).name)
      const rows = await reader.values(queries.rowsOfNames(dialect, { ...pass, now: clock.now() }, names))
      const byName = new Map(rows.map((row) => [String(row[0]), row]))
      const sorted = names.map((name) => byName.get(name)).filter((row) => row !== undefined)
      if (sorted.length > 0) yield sorted
    }
    const last = lines.at(-1)
    if (last === undefined || lines.length < sizes.pass) return
    pass = { ...pass, after: positionOf(last), now: clock.now() }
  }
}

/**
 * Returns the first positions of a list, as lines of `queries.places`. Reads the table in one stretch after the other, so that other
 * scans get a turn.
 * @param count records visited at a time
 */
async function firstPlaces(
  dialect: Dialect,
  reader: Reader,
  request: PageRequest,
  count: number,
): Promise<readonly string[]> {
  const { ascending, limit } = request
  const before = ascending ? -1 : 1
  let first: readonly string[] = []
  for (let after = ''; ;) {
    const byName = { ...request, sortKey: 'name', ascending: true, after: { key: '', name: after } } as const
    const end = queries.endOfStretch(dialect, byName, count)
    const upTo = end && (await reader.first(end))?.name
    const worst = first.length < limit ? undefined : first.at(-1)
    const stretch = {
      ...request,
      names: { after, upTo },
      upTo: worst === undefined ? undefined : positionOf(worst),
    }
    const found = (await reader.first(queries.places(dialect, stretch)))?.text?.split('\n') ?? []
    // Sorted runs are merged in linear time.
    first = [...first, ...found].sort((one, other) => (one < other ? before : -before)).slice(0, limit)
    if (upTo === undefined) return first
    after = upTo
  }
}

function positionOf(line: string): ListPosition {
  const tab = line.indexOf('\t')
  return { key: line.slice(0, tab), name: line.slice(tab + 1) }
}
