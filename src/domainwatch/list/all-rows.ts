import type { Clock } from '../../lib/clock.ts'
import type { Database, Reader } from '../../storage/database/database.ts'
import type { SqlValue } from '../../storage/database/sql.ts'
import * as queries from './queries.ts'
import type { ListPosition, PageRequest } from './queries.ts'
import { positionOfRow } from './page-json.ts'

/** Records read at a time: some 4 ms on the shared connection. */
const PART = 2_000
/** Positions found in one pass over the table: some 3 MB of text. */
const PASS = 100_000
/** Records of an index that are visited at a time where few match: each is fetched separately, so others wait some 100 ms. */
const STRETCH = 5_000
const SIZES = { part: PART, pass: PASS, stretch: STRETCH }

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

/**
 * In an order without an index: each pass over the table finds the positions of many records, whose rows are then
 * read in parts.
 */
const rowsOfPasses: RowsOfRequest = async function* ({ dialect }, clock, reader, request, sizes = SIZES) {
  for (let pass: PageRequest = { ...request, limit: sizes.pass }; ;) {
    const found = await reader.first(queries.places(dialect, pass))
    let count = 0
    let last: ListPosition | undefined
    for (const part of placesOf(found?.text ?? '', sizes.part)) {
      count += part.length
      last = part.at(-1)
      const names = part.map(({ name }) => name)
      const rows = await reader.values(queries.rowsOfNames(dialect, { ...pass, now: clock.now() }, names))
      const byName = new Map(rows.map((row) => [String(row[0]), row]))
      const sorted = names.map((name) => byName.get(name)).filter((row) => row !== undefined)
      if (sorted.length > 0) yield sorted
    }
    if (last === undefined || count < sizes.pass) return
    pass = { ...pass, after: last, now: clock.now() }
  }
}

/** Yields the positions in a text of `queries.places`, in parts. */
function* placesOf(text: string, size: number): Generator<readonly ListPosition[]> {
  for (let at = 0; at < text.length;) {
    const part: ListPosition[] = []
    while (part.length < size && at < text.length) {
      const tab = text.indexOf('\t', at)
      const found = text.indexOf('\n', tab)
      const end = found < 0 ? text.length : found
      part.push({ key: text.slice(at, tab), name: text.slice(tab + 1, end) })
      at = end + 1
    }
    yield part
  }
}
