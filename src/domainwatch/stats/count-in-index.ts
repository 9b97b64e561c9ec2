import {
  formatTimestamp,
  parseTimestamp,
  Plane,
  rangeOf,
  wordsOf,
  Scan,
  type Segment,
  TimeSlice,
  type IndexQuery,
  type Range,
} from '../../lib/name-index/index.ts'
import { MAX_LABEL_CHARACTERS } from '../limits.ts'
import { splitTags } from '../tags.ts'
import { indexQuery, type IndexSegments } from '../list/index-page.ts'
import {
  DayCounts,
  seriesFilters,
  Totals,
  type Counted,
  type CountRequest,
  dayOf,
  RisingWords,
  type WordWeeks,
  KeyCounts,
} from './counts.ts'

/** How long counting blocks the event loop before it yields, and records between checks: about 2 ms at most. */
const SLICE_MS = 3
const PIECE = 16_384
/** Keys of one day differ in their last 17 bits only. */
const DAY_UNIT = 2 ** 17

/** Counts in memory, as of the call: later changes have no effect. */
export async function countInIndex(
  segments: IndexSegments,
  request: CountRequest,
  now: number,
): Promise<Counted> {
  const { filters, span } = request
  const registered = segments.registered.map((segment) => segment.snapshot())
  const deleted = segments.deleted.map((segment) => segment.snapshot())
  const [from, to] = [parseTimestamp(span.from), parseTimestamp(span.to)]
  const slice = new TimeSlice(SLICE_MS)
  const series = { registered: new DaySums(from, to), deleted: new DaySums(from, to) }

  // A record that was deleted later counts as a registration; one first recorded as deleted does not. The latter has the
  // time of its deletion as its date, so both follow from the span in either order, however long the lists are.
  const inSpan = indexQuery({ ...filters, ...span }, now)
  for (const segment of registered) {
    const { keys } = segment.columns
    await visit(segment, inSpan, rangeOf(segment, inSpan, true, {}), slice, (position) =>
      series.registered.add(keys[position] ?? NaN, 1),
    )
  }
  const ofAnyDate = indexQuery(seriesFilters(request), now)
  for (const segment of deleted) {
    const { keys, registered: dates } = segment.columns
    const [first, last] = rangeOf(segment, ofAnyDate, true, {})
    const range: Range = [
      Math.max(first, segment.lowerBound({ key: to }, true)),
      Math.min(last, segment.lowerBound({ key: from }, false)),
    ]
    await visit(segment, ofAnyDate, range, slice, (position) => {
      const key = keys[position] ?? NaN
      series.deleted.add(key, 1)
      if (dates[position] === key) series.registered.add(key, -1)
    })
  }
  const days = new DayCounts(dayOf(span.from), dayOf(span.to))
  for (const name of ['registered', 'deleted'] as const) {
    for (const [day, count] of series[name].entries()) days.add(name, day, count)
  }
  const rising = new RisingWords()
  if (request.weeks !== undefined) await countWords(registered, request, request.weeks, rising, now, slice)
  const matching = indexQuery(filters, now)
  const totals = await totalsOf(registered, matching, slice)
  const tags = new KeyCounts()
  if ((request.tags ?? 0) > 0) await countTags(registered, matching, tags, slice)
  return { days, totals, rising, tags }
}

/** Visits tagged records only, and looks into each combination of tags once. */
async function countTags(
  segments: readonly Segment[],
  query: IndexQuery,
  counts: KeyCounts,
  slice: TimeSlice,
): Promise<void> {
  const tagged: IndexQuery = { ...query, set: [...query.set, Plane.tagged] }
  for (const segment of segments) {
    const { sets } = segment.columns.tags
    const bySet = new Uint32Array(sets.length)
    await visit(segment, tagged, rangeOf(segment, tagged, true, {}), slice, (position) => {
      const set = segment.tagSetOf(position)
      bySet[set] = (bySet[set] ?? 0) + 1
    })
    for (const [i, records] of bySet.entries()) {
      for (const tag of splitTags(sets[i] ?? null)) counts.add(tag, records)
    }
  }
}

async function countWords(
  segments: readonly Segment[],
  { filters }: CountRequest,
  { from, lastWeek, to }: WordWeeks,
  rising: RisingWords,
  now: number,
  slice: TimeSlice,
): Promise<void> {
  const query = indexQuery({ ...filters, from, to }, now)
  const week = parseTimestamp(lastWeek)
  for (const segment of segments) {
    const { keys } = segment.columns
    await visit(segment, query, rangeOf(segment, query, true, {}), slice, (position) => {
      const key = keys[position] ?? NaN
      // A record first recorded as deleted has no registration.
      if (segment.deletedAt(position) !== key) rising.add(wordsOf(segment, position), key >= week)
    })
  }
}

/** Counts per day of a span, by key. */
class DaySums {
  readonly #first: number
  readonly #counts: Int32Array

  /** @param from keys of the first and the last time */
  constructor(from: number, to: number) {
    this.#first = Math.floor(from / DAY_UNIT)
    this.#counts = new Int32Array(Math.floor(to / DAY_UNIT) - this.#first + 1)
  }

  /** @param key in the span */
  add(key: number, count: number): void {
    const day = Math.floor(key / DAY_UNIT) - this.#first
    this.#counts[day] = (this.#counts[day] ?? 0) + count
  }

  /** The days with a count other than 0. */
  *entries(): Generator<[day: string, count: number]> {
    for (const [day, count] of this.#counts.entries()) {
      if (count !== 0) yield [dayOf(formatTimestamp((this.#first + day) * DAY_UNIT)), count]
    }
  }
}

/** Status, reserved, revision and discarded, as `marksOf` has them. */
const MARKS = 4

async function totalsOf(segments: readonly Segment[], plan: IndexQuery, slice: TimeSlice): Promise<Totals> {
  const totals = new Totals()
  for (const segment of segments) {
    const { agent, agents, starts } = segment.columns
    const byAgent = new Uint32Array(agents.length)
    // For each length, the records of each of the 16 combinations of marks.
    const byMarks = new Uint32Array((MAX_LABEL_CHARACTERS + 1) << MARKS)
    await visit(segment, plan, rangeOf(segment, plan, true, {}), slice, (position) => {
      const number = agent[position] ?? 0
      byAgent[number] = (byAgent[number] ?? 0) + 1
      const length = (starts[position + 1] ?? 0) - (starts[position] ?? 0)
      const index = (length << MARKS) | segment.marksOf(position)
      byMarks[index] = (byMarks[index] ?? 0) + 1
    })
    for (let length = 1; length <= MAX_LABEL_CHARACTERS; length++) {
      const counts = byMarks.subarray(length << MARKS, (length + 1) << MARKS)
      const having = (mark: number) =>
        counts.reduce((sum, count, set) => (((set >> mark) & 1) === 1 ? sum + count : sum), 0)
      totals.addLength(length, {
        records: counts.reduce((sum, count) => sum + count, 0),
        bought: having(0),
        reserved: having(1),
        revision: having(2),
        discarded: having(3),
      })
    }
    for (const [i, name] of agents.entries()) totals.addAgent(name, byAgent[i] ?? 0)
  }
  return totals
}

/** Visits the matching records of a segment in slices, and yields even if few match. */
async function visit(
  segment: Segment,
  plan: IndexQuery,
  [first, last]: Range,
  slice: TimeSlice,
  see: (position: number) => void,
): Promise<void> {
  for (let from = first; from < last;) {
    // Slices end at block boundaries.
    const to = Math.min(last, from - (from % PIECE) + PIECE)
    const scan = new Scan(segment, plan, [from, to], true)
    while (scan.next()) see(scan.position)
    from = to
    await slice.yieldIfOver()
  }
}
