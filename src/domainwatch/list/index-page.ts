import {
  compareBytes,
  compareNames,
  compileQuery,
  firstMatches,
  formatTimestamp,
  parseTimestamp,
  type EntryKey,
  type Hit,
  type IndexQuery,
  type IndexTerm,
  type Order,
  type Segment,
} from '../../lib/name-index/index.ts'
import { goneBefore } from '../discarding.ts'
import { conditionsOf, type Filters } from '../filters.ts'
import type { ListPosition, ListRange, PageRequest, Source } from '../queries.ts'

/** All records, in both orders. */
export type IndexSegments = Readonly<Record<Order, readonly Segment[]>>

export interface FoundPage {
  readonly hits: readonly Hit[]
  readonly hasNext: boolean
  /** As requested, with the ranges that later pages need. */
  readonly sources: readonly Source[]
}

/** The filters as the index takes them. @param also further conditions */
export function indexQuery(filters: Filters, now: number, also: readonly IndexTerm[] = []): IndexQuery {
  return compileQuery([...conditionsOf(filters).map(({ index }) => index), ...also], goneBefore(now))
}

/** What the database would answer to the same request; undefined if a position in it is none that a record can have. */
export function findPage(segments: IndexSegments, request: PageRequest): FoundPage | undefined {
  const { sources, limit, filters, now } = request
  const after = request.after === undefined ? undefined : entryKeyOf(request.after)
  if (after === 'none') return undefined
  const [only] = sources
  if (only?.kind === 'all' && sources.length === 1) {
    const query = indexQuery(filters, now)
    const hits = firstMatches(segments.registered, query, limit + 1, !request.ascending, { after })
    return { hits: hits.slice(0, limit), hasNext: hits.length > limit, sources }
  }
  const wanted = sources.reduce((sum, source) => sum + (source.kind === 'all' ? 0 : source.newest), 0)
  const withRanges: Source[] = []
  const hits: Hit[] = []
  for (const source of sources) {
    const found = matchesOfSource(segments, source, filters, now)
    if (found === undefined) return undefined
    hits.push(...found)
    const isComplete = source.kind === 'all' || source.range !== undefined || wanted <= limit
    withRanges.push(isComplete ? source : { ...source, range: rangeOfHits(found) })
  }
  const keyOf = ({ segment, position }: Hit) =>
    segment.columns[request.sortKey === 'deleted_at' ? 'keys' : 'registered'][position] ?? 0
  hits.sort((one, other) => {
    const newer = keyOf(other) - keyOf(one) || compareNames(other, one)
    return request.ascending ? -newer : newer
  })
  const rest =
    after === undefined ? hits : hits.filter((hit) => isBehind(hit, keyOf(hit), after, request.ascending))
  return { hits: rest.slice(0, limit), hasNext: rest.length > limit, sources: withRanges }
}

const BOUGHT: IndexTerm = { kind: 'bit', of: 'status', value: 1 }

/** The records of `last_register` or `last_deleted`, newest first. */
function matchesOfSource(
  segments: IndexSegments,
  source: Source,
  filters: Filters,
  now: number,
): Hit[] | undefined {
  if (source.kind === 'all')
    return firstMatches(segments.registered, indexQuery(filters, now), Infinity, true, {})
  const order = source.kind
  const query = indexQuery(filters, now, order === 'registered' ? [BOUGHT] : [])
  if (source.range === undefined) return firstMatches(segments[order], query, source.newest, true, {})
  const low = entryKeyOf(source.range.low)
  const high = entryKeyOf(source.range.high)
  if (low === 'none' || high === 'none') return undefined
  return firstMatches(segments[order], query, Infinity, true, { low, high })
}

function isBehind(hit: Hit, key: number, after: EntryKey, ascending: boolean): boolean {
  const name = hit.segment.nameOf(hit.position)
  const newer = key - after.key || compareBytes(name, 0, name.length, after.name, 0, after.name.length)
  return ascending ? newer > 0 : newer < 0
}

function rangeOfHits(newestFirst: readonly Hit[]): ListRange | undefined {
  const high = newestFirst[0]
  const low = newestFirst.at(-1)
  return high === undefined || low === undefined
    ? undefined
    : { low: positionOfHit(low), high: positionOfHit(high) }
}

/** The position of a record in its own list, or in one by `date_reg`. */
export function positionOfHit({ segment, position }: Hit, key: 'keys' | 'registered' = 'keys'): ListPosition {
  return {
    key: formatTimestamp(segment.columns[key][position] ?? 0),
    name: Buffer.from(segment.nameOf(position)).toString('latin1'),
  }
}

/** `none`: no record can have such a key or name, only a forged cursor. */
function entryKeyOf({ key, name }: ListPosition): EntryKey | 'none' {
  const timestamp = key.length === 19 ? parseTimestamp(key) : NaN
  if (Number.isNaN(timestamp) || /[^\0-\xff]/.test(name)) return 'none'
  return { key: timestamp, name: new Uint8Array(Buffer.from(name, 'latin1')) }
}
