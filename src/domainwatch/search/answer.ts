import type { Filters } from '../filters.ts'
import type { PageRequest, Place as TextPlace, Source, Span } from '../queries.ts'
import { momentOf, momentText } from './moment.ts'
import { compareBytes, type Order } from './order.ts'
import { planOf, type Plan } from './plan.ts'
import { Scan, type Range } from './scan.ts'
import type { Place, Segment } from './segment.ts'

/** The lists: segments of each, in no order. */
export type Shelves = Readonly<Record<Order, readonly Segment[]>>

/** A record that was found. */
export interface Hit {
  readonly segment: Segment
  readonly position: number
}

export interface Found {
  readonly hits: readonly Hit[]
  readonly hasNext: boolean
  /** As they were asked for, with the ends of their sets where those had to be settled. */
  readonly sources: readonly Source[]
}

/** What the database would answer to the same request; undefined where its places are none that a record can have. */
export function find(shelves: Shelves, request: PageRequest): Found | undefined {
  const { sources, limit, filters, now } = request
  const after = request.after === undefined ? undefined : placeOf(request.after)
  if (after === 'none') return undefined
  const [only] = sources
  if (only?.kind === 'all' && sources.length === 1) {
    const plan = planOf(filters, now)
    const hits = take(shelves.registered, plan, limit + 1, !request.ascending, { after })
    return { hits: hits.slice(0, limit), hasNext: hits.length > limit, sources }
  }
  const wanted = sources.reduce((sum, source) => sum + (source.kind === 'all' ? 0 : source.newest), 0)
  const settled: Source[] = []
  const hits: Hit[] = []
  for (const source of sources) {
    const found = sourceHits(shelves, source, filters, now)
    if (found === undefined) return undefined
    hits.push(...found)
    const isSettled = source.kind === 'all' || source.span !== undefined || wanted <= limit
    settled.push(isSettled ? source : { ...source, span: spanOf(found) })
  }
  const keyOf = ({ segment, position }: Hit) =>
    segment.columns[request.sortKey === 'deleted_at' ? 'keys' : 'registered'][position] ?? 0
  const inOrder = (one: Hit, other: Hit) => {
    const newer = keyOf(other) - keyOf(one) || compareNames(other, one)
    return request.ascending ? -newer : newer
  }
  hits.sort(inOrder)
  const rest =
    after === undefined ? hits : hits.filter((hit) => isBehind(hit, keyOf(hit), after, request.ascending))
  return { hits: rest.slice(0, limit), hasNext: rest.length > limit, sources: settled }
}

const BOUGHT = { kind: 'bit', of: 'status', value: 1 } as const

/** All that `last_register` or `last_deleted` names, newest first. */
function sourceHits(shelves: Shelves, source: Source, filters: Filters, now: number): Hit[] | undefined {
  if (source.kind === 'all') return take(shelves.registered, planOf(filters, now), Infinity, true, {})
  const order = source.kind
  const plan = planOf(filters, now, order === 'registered' ? [BOUGHT] : [])
  if (source.span === undefined) return take(shelves[order], plan, source.newest, true, {})
  const low = placeOf(source.span.low)
  const high = placeOf(source.span.high)
  if (low === 'none' || high === 'none') return undefined
  return take(shelves[order], plan, Infinity, true, { low, high })
}

interface Bounds {
  /** Only behind this place, in the direction of the walk. */
  readonly after?: Place | undefined
  /** Only from one place to another, both included. */
  readonly low?: Place
  readonly high?: Place
}

/** The first matches of all segments in one direction. */
function take(
  segments: readonly Segment[],
  plan: Plan,
  limit: number,
  newestFirst: boolean,
  bounds: Bounds,
): Hit[] {
  if (plan.minLength > plan.maxLength) return []
  const scans = segments
    .map((segment) => new Scan(segment, plan, rangeIn(segment, plan, newestFirst, bounds), newestFirst))
    .filter((scan) => scan.next())
  const hits: Hit[] = []
  while (hits.length < limit) {
    let [best] = scans
    if (best === undefined) break
    for (const scan of scans) {
      if (scan === best) continue
      const newer = compareHits(scan, best)
      if (newestFirst ? newer > 0 : newer < 0) best = scan
    }
    hits.push({ segment: best.segment, position: best.position })
    if (!best.next()) scans.splice(scans.indexOf(best), 1)
  }
  return hits
}

/** Where in a segment the dates that a plan wants may be. */
export function rangeIn(
  segment: Segment,
  plan: Plan,
  newestFirst: boolean,
  { after, low, high }: Bounds,
): Range {
  let from = 0
  let to = segment.columns.count
  if (segment.columns.keys === segment.columns.registered) {
    if (plan.to !== Infinity) from = segment.firstBehind({ key: plan.to }, true)
    if (plan.from !== -Infinity) to = segment.firstBehind({ key: plan.from }, false)
  }
  if (high !== undefined) from = Math.max(from, segment.firstBehind(high, true))
  if (low !== undefined) to = Math.min(to, segment.firstBehind(low, false))
  if (after !== undefined && newestFirst) from = Math.max(from, segment.firstBehind(after, false))
  if (after !== undefined && !newestFirst) to = Math.min(to, segment.firstBehind(after, true))
  return [from, to]
}

/** Positive where the first is the newer. */
function compareHits(one: Hit, other: Hit): number {
  const difference =
    (one.segment.columns.keys[one.position] ?? 0) - (other.segment.columns.keys[other.position] ?? 0)
  return difference === 0 ? compareNames(one, other) : difference
}

function compareNames(one: Hit, other: Hit): number {
  const a = one.segment.columns
  const b = other.segment.columns
  return compareBytes(
    a.names,
    a.starts[one.position] ?? 0,
    a.starts[one.position + 1] ?? 0,
    b.names,
    b.starts[other.position] ?? 0,
    b.starts[other.position + 1] ?? 0,
  )
}

function isBehind(hit: Hit, key: number, after: Place, ascending: boolean): boolean {
  const name = hit.segment.nameOf(hit.position)
  const newer = key - after.key || compareBytes(name, 0, name.length, after.name, 0, after.name.length)
  return ascending ? newer > 0 : newer < 0
}

function spanOf(newestFirst: readonly Hit[]): Span | undefined {
  const high = newestFirst[0]
  const low = newestFirst.at(-1)
  return high === undefined || low === undefined
    ? undefined
    : { low: placeOfHit(low), high: placeOfHit(high) }
}

/** Where a record stands in its own list, or in one by `date_reg`. */
export function placeOfHit({ segment, position }: Hit, key: 'keys' | 'registered' = 'keys'): TextPlace {
  return {
    key: momentText(segment.columns[key][position] ?? 0),
    name: Buffer.from(segment.nameOf(position)).toString('latin1'),
  }
}

/** `none`: no record can have such a key or name, only a cursor that somebody made up. */
function placeOf({ key, name }: TextPlace): Place | 'none' {
  const moment = key.length === 19 ? momentOf(key) : NaN
  if (Number.isNaN(moment) || /[^\0-\xff]/.test(name)) return 'none'
  return { key: moment, name: new Uint8Array(Buffer.from(name, 'latin1')) }
}
