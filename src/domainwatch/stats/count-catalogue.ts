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

/** How long counting holds the event loop at a stretch, and records between two looks at the clock. */
const STRETCH_MS = 4
const CHECK_EVERY = 1_024
/** Moments of one day are the same above their last 17 bits. */
const DAY_UNIT = 2 ** 17

/** Counts in memory, as of the call: who changes records meanwhile changes nothing of it. */
export async function countInCatalogue(
  shelves: Shelves,
  request: CountRequest,
  now: number,
): Promise<Counted> {
  const { filters, span } = request
  const registered = shelves.registered.map(frozen)
  const deleted = shelves.deleted.map(frozen)
  const days = new DayCounts(dayOf(span.from), dayOf(span.to))
  const [from, to] = [momentOf(span.from), momentOf(span.to)]
  const add = (series: 'registered' | 'deleted', counts: ReadonlyMap<number, number>) => {
    for (const [day, count] of counts) days.add(series, dayOf(momentText(day * DAY_UNIT)), count)
  }

  const inSpan = { ...filters, ...span }
  add(
    'registered',
    await perDay(registered, planOf(inSpan, now, 1), ({ columns }, at) => columns.registered[at]),
  )
  const deletedLater = ({ columns: { keys, registered: dates } }: Segment, at: number) =>
    keys[at] === dates[at] ? undefined : dates[at]
  add('registered', await perDay(deleted, planOf(inSpan, now), deletedLater))
  const deletedInSpan = ({ columns: { keys } }: Segment, at: number) => {
    const key = keys[at] ?? NaN
    return key >= from && key <= to ? key : undefined
  }
  add('deleted', await perDay(deleted, planOf(seriesFilters(request), now), deletedInSpan))
  return { days, tally: await tallyOf(registered, planOf(filters, now)) }
}

/** The segment as it is now. */
function frozen(segment: Segment): Segment {
  const copy = new Segment(segment.columns)
  copy.live.set(segment.live)
  return copy
}

/** How many records have their moment on each day; those without one are left out. */
async function perDay(
  segments: readonly Segment[],
  plan: Plan,
  moment: (segment: Segment, position: number) => number | undefined,
): Promise<ReadonlyMap<number, number>> {
  const counts = new Map<number, number>()
  for (const segment of segments) {
    await visit(segment, plan, (position) => {
      const at = moment(segment, position)
      if (at === undefined) return
      const day = Math.floor(at / DAY_UNIT)
      counts.set(day, (counts.get(day) ?? 0) + 1)
    })
  }
  return counts
}

const MARKS = ['records', 'bought', 'reserved', 'revision', 'discarded'] as const
const PLANES = [Plane.status, Plane.reserved, Plane.revision, Plane.discarded]
const MAX_LENGTH = 63

async function tallyOf(segments: readonly Segment[], plan: Plan): Promise<Tally> {
  const tally = new Tally()
  for (const segment of segments) {
    const { agent, agents, starts } = segment.columns
    const byAgent = new Uint32Array(agents.length)
    const byLength = new Uint32Array((MAX_LENGTH + 1) * MARKS.length)
    await visit(segment, plan, (position) => {
      const own = agent[position] ?? 0
      byAgent[own] = (byAgent[own] ?? 0) + 1
      const place = ((starts[position + 1] ?? 0) - (starts[position] ?? 0)) * MARKS.length
      byLength[place] = (byLength[place] ?? 0) + 1
      for (const [i, plane] of PLANES.entries()) {
        if (segment.has(plane, position)) byLength[place + 1 + i] = (byLength[place + 1 + i] ?? 0) + 1
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

async function visit(segment: Segment, plan: Plan, see: (position: number) => void): Promise<void> {
  const scan = new Scan(segment, plan, rangeIn(segment, plan, true, {}), true)
  let since = performance.now()
  for (let seen = 1; scan.next(); seen++) {
    see(scan.position)
    if (seen % CHECK_EVERY !== 0 || performance.now() - since < STRETCH_MS) continue
    await breathe()
    since = performance.now()
  }
}
