import type { Clock } from '../../lib/clock.ts'
import type { Database, Reader } from '../../storage/database/database.ts'
import type { Dialect } from '../../storage/database/dialect.ts'
import type { SqlValue } from '../../storage/database/sql.ts'
import * as queries from './queries.ts'
import type { ListPosition, PageRequest } from './queries.ts'
import { positionOfRow } from './page-json.ts'

/** Records read at a time: some 4 ms on the shared connection. */
const PART = 2_000
/** Positions found in one pass over the table: some 6 MB. */
const PASS = 50_000
/** Records of an index that are visited at a time where few match: each is fetched separately, so others wait some 100 ms. */
const STRETCH = 5_000
/** Records of the table that are visited at a time, in the order that they are stored in: 10 to 30 ms. */
const SCAN = 20_000
const SIZES = { part: PART, pass: PASS, stretch: STRETCH, scan: SCAN }

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
