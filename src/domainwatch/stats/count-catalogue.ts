import { setImmediate as breathe } from 'node:timers/promises'
import {
  formatTimestamp,
  parseTimestamp,
  Plane,
  rangeOf,
  Scan,
  Segment,
  type IndexQuery,
  type Range,
} from '../../lib/name-index/index.ts'
import { indexQuery, type IndexSegments } from '../list/index-page.ts'
import { seriesFilters, type Counted, type CountRequest } from './counted.ts'
import { DayCounts, dayOf } from './days.ts'
import { Tally } from './tally.ts'

/** How long counting holds the event loop at a stretch, and records between two looks at the clock: at most some 2 ms. */
const STRETCH_MS = 3
const PIECE = 16_384
/** Moments of one day are the same above their last 17 bits. */
const DAY_UNIT = 2 ** 17

/** Counts in memory, as of the call: who changes records meanwhile changes nothing of it. */
export async function countInCatalogue(
  segments: IndexSegments,
  request: CountRequest,
  now: number,
): Promise<Counted> {
  const { filters, span } = request
  const asItIs = (segment: Segment) => new Segment(segment.columns, segment.live, segment)
  const registered = segments.registered.map(asItIs)
  const deleted = segments.deleted.map(asItIs)
  const [from, to] = [parseTimestamp(span.from), parseTimestamp(span.to)]
  const pace = new Pace()
  const series = { registered: new DaySums(from, to), deleted: new DaySums(from, to) }

  // Registrations of whatever was deleted later count; what was first recorded as deleted has none. Those have the moment of
  // their deletion for a date, so both are known from what the span has of either order, however long the lists are.
  const inSpan = indexQuery({ ...filters, ...span }, now)
  for (const segment of registered) {
    const { keys } = segment.columns
    await visit(segment, inSpan, rangeOf(segment, inSpan, true, {}), pace, (position) =>
      series.registered.add(keys[position] ?? NaN, 1),
    )
  }
  const ofAnyDate = indexQuery(seriesFilters(request), now)
  for (const segment of deleted) {
    const { keys, registered: dates } = segment.columns
    const range: Range = [segment.lowerBound({ key: to }, true), segment.lowerBound({ key: from }, false)]
    await visit(segment, ofAnyDate, range, pace, (position) => {
      const key = keys[position] ?? NaN
      series.deleted.add(key, 1)
      if (dates[position] === key) series.registered.add(key, -1)
    })
  }
  const days = new DayCounts(dayOf(span.from), dayOf(span.to))
  for (const name of ['registered', 'deleted'] as const) {
    for (const [day, count] of series[name].entries()) days.add(name, day, count)
  }
  return { days, tally: await tallyOf(registered, indexQuery(filters, now), pace) }
}

/** Counts of the days of a span. */
class DaySums {
  readonly #first: number
  readonly #counts: Int32Array

  /** @param from the first moment, and the last */
  constructor(from: number, to: number) {
    this.#first = Math.floor(from / DAY_UNIT)
    this.#counts = new Int32Array(Math.floor(to / DAY_UNIT) - this.#first + 1)
  }

  /** @param moment in the span */
  add(moment: number, count: number): void {
    const day = Math.floor(moment / DAY_UNIT) - this.#first
    this.#counts[day] = (this.#counts[day] ?? 0) + count
  }

  /** Days that have any, and how many. */
  *entries(): Generator<[day: string, count: number]> {
    for (const [day, count] of this.#counts.entries()) {
      if (count !== 0) yield [dayOf(formatTimestamp((this.#first + day) * DAY_UNIT)), count]
    }
  }
}

const PLANES = [Plane.status, Plane.reserved, Plane.revision, Plane.discarded] as const
const MAX_LENGTH = 63

async function tallyOf(segments: readonly Segment[], plan: IndexQuery, pace: Pace): Promise<Tally> {
  const tally = new Tally()
  for (const segment of segments) {
    const { agent, agents, starts } = segment.columns
    const byAgent = new Uint32Array(agents.length)
    // For each length the records of each of the 16 ways in which the four marks can be set.
    const byMarks = new Uint32Array((MAX_LENGTH + 1) << PLANES.length)
    const marks = new MarksReader(segment)
    await visit(segment, plan, rangeOf(segment, plan, true, {}), pace, (position) => {
      const own = agent[position] ?? 0
      byAgent[own] = (byAgent[own] ?? 0) + 1
      const length = (starts[position + 1] ?? 0) - (starts[position] ?? 0)
      const place = (length << PLANES.length) | marks.of(position)
      byMarks[place] = (byMarks[place] ?? 0) + 1
    })
    for (let length = 1; length <= MAX_LENGTH; length++) {
      const counts = byMarks.subarray(length << PLANES.length, (length + 1) << PLANES.length)
      const having = (mark: number) =>
        counts.reduce((sum, count, set) => (((set >> mark) & 1) === 1 ? sum + count : sum), 0)
      tally.addLength(length, {
        records: counts.reduce((sum, count) => sum + count, 0),
        bought: having(0),
        reserved: having(1),
        revision: having(2),
        discarded: having(3),
      })
    }
    for (const [i, name] of agents.entries()) tally.addAgent(name, byAgent[i] ?? 0)
  }
  return tally
}

/** The marks of one record after the other. Reads the words of 32 of them once. */
class MarksReader {
  readonly #segment: Segment
  #block = -1
  #status = 0
  #reserved = 0
  #revision = 0
  #discarded = 0

  constructor(segment: Segment) {
    this.#segment = segment
  }

  /** A bit for each of `PLANES`, the first the lowest. */
  of(position: number): number {
    const block = position >>> 5
    if (block !== this.#block) {
      this.#block = block
      const { words, columns } = this.#segment
      const word = (plane: number) => columns.planes[plane * words + block] ?? 0
      ;[this.#status, this.#reserved, this.#revision, this.#discarded] = [
        word(PLANES[0]),
        word(PLANES[1]),
        word(PLANES[2]),
        word(PLANES[3]),
      ]
    }
    const bit = position & 31
    return (
      ((this.#status >>> bit) & 1) |
      (((this.#reserved >>> bit) & 1) << 1) |
      (((this.#revision >>> bit) & 1) << 2) |
      (((this.#discarded >>> bit) & 1) << 3)
    )
  }
}

/** Looks at the clock after each piece of a segment, however few of its records there are to see. */
async function visit(
  segment: Segment,
  plan: IndexQuery,
  [first, last]: Range,
  pace: Pace,
  see: (position: number) => void,
): Promise<void> {
  for (let from = first; from < last;) {
    // Pieces end with the blocks that a scan looks at together.
    const to = Math.min(last, from - (from % PIECE) + PIECE)
    const scan = new Scan(segment, plan, [from, to], true)
    while (scan.next()) see(scan.position)
    from = to
    await pace.keep()
  }
}

/** Lets others have the event loop when a stretch of time is over. */
class Pace {
  #since = performance.now()

  async keep(): Promise<void> {
    if (performance.now() - this.#since < STRETCH_MS) return
    await breathe()
    this.#since = performance.now()
  }
}
