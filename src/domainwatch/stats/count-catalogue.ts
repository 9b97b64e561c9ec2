import { setImmediate as breathe } from 'node:timers/promises'
import { rangeIn, type Shelves } from '../search/answer.ts'
import { Plane } from '../search/columns.ts'
import { momentOf, momentText } from '../search/moment.ts'
import { planOf, type Plan } from '../search/plan.ts'
import { Scan } from '../search/scan.ts'
import { Segment } from '../search/segment.ts'
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
  shelves: Shelves,
  request: CountRequest,
  now: number,
): Promise<Counted> {
  const { filters, span } = request
  const asItIs = (segment: Segment) => new Segment(segment.columns, segment.live, segment)
  const registered = shelves.registered.map(asItIs)
  const deleted = shelves.deleted.map(asItIs)
  const days = new DayCounts(dayOf(span.from), dayOf(span.to))
  const [from, to] = [momentOf(span.from), momentOf(span.to)]
  const pace = new Pace()

  /** Adds how many records have their moment on each day; those without one in the span are left out. */
  const perDay = async (
    series: 'registered' | 'deleted',
    segments: readonly Segment[],
    plan: Plan,
    moment: (segment: Segment, position: number) => number,
  ) => {
    const first = Math.floor(from / DAY_UNIT)
    const counts = new Uint32Array(Math.floor(to / DAY_UNIT) - first + 1)
    for (const segment of segments) {
      await visit(segment, plan, pace, (position) => {
        const at = moment(segment, position)
        if (!(at >= from && at <= to)) return
        const day = Math.floor(at / DAY_UNIT) - first
        counts[day] = (counts[day] ?? 0) + 1
      })
    }
    for (const [day, count] of counts.entries()) {
      if (count > 0) days.add(series, dayOf(momentText((first + day) * DAY_UNIT)), count)
    }
  }

  const inSpan = { ...filters, ...span }
  const registeredAt = ({ columns }: Segment, at: number) => columns.registered[at] ?? NaN
  await perDay('registered', registered, planOf(inSpan, now, 1), registeredAt)
  await perDay('registered', deleted, planOf(inSpan, now), (segment, at) =>
    segment.columns.keys[at] === segment.columns.registered[at] ? NaN : registeredAt(segment, at),
  )
  await perDay(
    'deleted',
    deleted,
    planOf(seriesFilters(request), now),
    ({ columns }, at) => columns.keys[at] ?? NaN,
  )
  return { days, tally: await tallyOf(registered, planOf(filters, now), pace) }
}

const MARKS = ['records', 'bought', 'reserved', 'revision', 'discarded'] as const
const PLANES = [Plane.status, Plane.reserved, Plane.revision, Plane.discarded]
const MAX_LENGTH = 63

async function tallyOf(segments: readonly Segment[], plan: Plan, pace: Pace): Promise<Tally> {
  const tally = new Tally()
  for (const segment of segments) {
    const { agent, agents, starts } = segment.columns
    const byAgent = new Uint32Array(agents.length)
    const byLength = new Uint32Array((MAX_LENGTH + 1) * MARKS.length)
    await visit(segment, plan, pace, (position) => {
      const own = agent[position] ?? 0
      byAgent[own] = (byAgent[own] ?? 0) + 1
      const place = ((starts[position + 1] ?? 0) - (starts[position] ?? 0)) * MARKS.length
      byLength[place] = (byLength[place] ?? 0) + 1
      for (let i = 0; i < PLANES.length; i++) {
        if (segment.has(PLANES[i] ?? 0, position))
          byLength[place + 1 + i] = (byLength[place + 1 + i] ?? 0) + 1
      }
    })
    for (let length = 1; length <= MAX_LENGTH; length++) {
      const [records = 0, bought = 0, reserved = 0, revision = 0, discarded = 0] = byLength.subarray(
        length * MARKS.length,
      )
      tally.addLength(length, { records, bought, reserved, revision, discarded })
    }
    for (const [i, name] of agents.entries()) tally.addAgent(name, byAgent[i] ?? 0)
  }
  return tally
}

/** Looks at the clock after each piece of a segment, however few of its records there are to see. */
async function visit(
  segment: Segment,
  plan: Plan,
  pace: Pace,
  see: (position: number) => void,
): Promise<void> {
  const [first, last] = rangeIn(segment, plan, true, {})
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
