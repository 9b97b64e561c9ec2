import {
  compareBytes,
  compareNames,
  compileQuery,
  firstMatches,
  formatTimestamp,
  namePrefix,
  parseTimestamp,
  SORTED_ORDERS,
  sortedMatches,
  TIMESTAMP_LENGTH,
  type EntryKey,
  type Hit,
  type IndexQuery,
  type IndexTerm,
  type Order,
  type Segment,
} from '../../lib/name-index/index.ts'
import { expiryCutoff, MAX_PAGE_RECORDS } from '../limits.ts'
import { conditionsOf, type FilterName, type Filters } from '../filters.ts'
import {
  isOfAll,
  type ListPosition,
  type ListRange,
  type SortKey,
  type Source,
  SOURCE_KEYS,
} from './queries.ts'
import { LENGTH_DIGITS, PageBuilder, type ListPage } from './cursor.ts'
import { needsRange, stagesFrom, type Listing } from './order.ts'

/**
 * Records of a range that the index sorts without blocking the event loop for long; with more, the database does. A range has a page
 * of records at first, but others may be added to it, and a forged cursor may span everything.
 */
const MAX_RANGE_RECORDS = 4 * MAX_PAGE_RECORDS

/** All records, in both orders. */
export type IndexSegments = Readonly<Record<Order, readonly Segment[]>>

export type FoundPage = ListPage<Hit>

/** The filters as the index takes them. @param also further conditions */
export function indexQuery(filters: Filters, now: number, also: readonly IndexTerm[] = []): IndexQuery {
  return compileQuery([...conditionsOf(filters).map(({ index }) => index), ...also], expiryCutoff(now))
}

/**
 * Finds what the database would return. Undefined if a position in the request is impossible, a range has too many records, or
 * `findSorted` serves its order.
 */
export function findPage(segments: IndexSegments, listing: Listing): FoundPage | undefined {
  return isOfAll(listing.sources) ? firstOfStages(segments, listing) : firstOfSources(segments, listing)
}

/** Whether the list is in an order that no segment is sorted by, so that `findSorted` serves it. */
export function isLongSearch({ sources, order }: Listing): boolean {
  return isOfAll(sources) && SORTED_ORDERS.some((one) => one === order)
}

/** A page of all records, in orders that segments are sorted by. */
function firstOfStages(segments: IndexSegments, listing: Listing): FoundPage | undefined {
  const { filters, now, ascending, sources, limit } = listing
  const pages = new PageBuilder(limit, sources, positionOfHit)
  for (const stage of stagesFrom(listing, sources)) {
    const isDeleted = stage.sortKey === 'deleted_at'
    if (!isDeleted && stage.sortKey !== 'date_reg') return undefined
    const after = entryKeyAt(stage.after, stage.sortKey)
    if (after === 'none') return undefined
    const query = indexQuery(filters, now, stage.name === 'bought' ? [BOUGHT] : [])
    const order = isDeleted ? 'deleted' : 'registered'
    const hits = firstMatches(segments[order], query, pages.wanted, !ascending, { after })
    if (pages.add(stage, hits)) break
  }
  return pages.build()
}

/** A page of the records of `last_register` and `last_deleted`, in any order. */
function firstOfSources(segments: IndexSegments, listing: Listing): FoundPage | undefined {
  const { filters, now, ascending, limit } = listing
  const hitsOf = new Map<Source, readonly Hit[]>()
  for (const source of listing.sources) {
    const found = matchesOfSource(segments, source, filters, now)
    if (found === undefined) return undefined
    const isOpen = needsRange(source, listing)
    hitsOf.set(isOpen ? { ...source, range: rangeOfHits(found, source.kind) } : source, found)
  }
  const sources = [...hitsOf.keys()]
  const pages = new PageBuilder(limit, sources, positionOfHit)
  for (const stage of stagesFrom(listing, sources)) {
    const { sortKey } = stage
    const after = entryKeyAt(stage.after, sortKey)
    if (after === 'none') return undefined
    const hits = stage.sources.flatMap((source) => hitsOf.get(source) ?? [])
    const sorted = hits.toSorted((one, other) => {
      const newer = keyOf(other, sortKey) - keyOf(one, sortKey) || compareNames(other, one)
      return ascending ? -newer : newer
    })
    const rest =
      after === undefined ? sorted : sorted.filter((hit) => isBehind(hit, sortKey, after, ascending))
    if (pages.add(stage, rest)) break
  }
  return pages.build()
}

/**
 * A page of all records in an order that no segment is sorted by. Yields to other work on the event loop.
 * @returns undefined if a position is impossible, or the database is faster
 */
export async function findSorted(segments: IndexSegments, listing: Listing): Promise<FoundPage | undefined> {
  const { filters, now, ascending, limit, sources } = listing
  const [stage] = stagesFrom(listing, sources)
  const order = SORTED_ORDERS.find((one) => one === stage?.name)
  if (stage === undefined || order === undefined) return undefined
  const after = entryKeyAt(stage.after, stage.sortKey)
  if (after === 'none') return undefined
  const hits = await sortedMatches(segments.registered, indexQuery(filters, now), {
    order,
    descending: !ascending,
    limit: limit + 1,
    after:
      after && order === 'name' ? { ...after, key: namePrefix(after.name, 0, after.name.length) } : after,
    // The table is sorted by name, but matching names may be far from the start of the page.
    unlessDense: order === 'name' && !NAME_FILTERS.some((name) => filters[name] !== undefined),
  })
  if (hits === undefined) return undefined
  const pages = new PageBuilder(limit, sources, positionOfHit)
  pages.add(stage, hits)
  return pages.build()
}

const NAME_FILTERS: readonly FilterName[] = ['search', 'starts', 'ends', 'pattern']

const BOUGHT: IndexTerm = { kind: 'bit', of: 'status', value: 1 }

/** The records of `last_register` or `last_deleted`, newest first. Undefined if a position is impossible, or there are too many. */
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
  const key = SOURCE_KEYS[order]
  const low = entryKeyAt(source.range.low, key)
  const high = entryKeyAt(source.range.high, key)
  if (low === 'none' || high === 'none' || low === undefined || high === undefined) return undefined
  const found = firstMatches(segments[order], query, MAX_RANGE_RECORDS + 1, true, { low, high })
  return found.length > MAX_RANGE_RECORDS ? undefined : found
}

function isBehind(hit: Hit, key: SortKey, after: EntryKey, ascending: boolean): boolean {
  const name = hit.segment.nameOf(hit.position)
  const newer =
    keyOf(hit, key) - after.key || compareBytes(name, 0, name.length, after.name, 0, after.name.length)
  return ascending ? newer > 0 : newer < 0
}

function rangeOfHits(newestFirst: readonly Hit[], kind: 'registered' | 'deleted'): ListRange | undefined {
  const high = newestFirst[0]
  const low = newestFirst.at(-1)
  const key = SOURCE_KEYS[kind]
  return high === undefined || low === undefined
    ? undefined
    : { low: positionOfHit(low, key), high: positionOfHit(high, key) }
}

/** The number by which a record is sorted; the same for all where that is the name. */
function keyOf({ segment, position }: Hit, key: SortKey): number {
  const { registered, modified } = segment.columns
  switch (key) {
    case 'date_reg':
      return registered[position] ?? NaN
    case 'date_mod':
      return modified[position] ?? NaN
    case 'deleted_at':
      return segment.deletedAt(position)
    case 'length':
      return segment.nameOf(position).length
    case 'name':
      return 0
  }
}

/** The position of a record in a list that is sorted by this key. */
function positionOfHit(hit: Hit, key: SortKey): ListPosition {
  const number = keyOf(hit, key)
  const texts = { name: '', length: String(number).padStart(LENGTH_DIGITS, '0') }
  return {
    key: key === 'name' || key === 'length' ? texts[key] : formatTimestamp(number),
    name: nameOfHit(hit),
  }
}

export function nameOfHit({ segment, position }: Hit): string {
  return Buffer.from(segment.nameOf(position)).toString('latin1')
}

/** `none`: no record can have such a key or name, only a forged cursor. */
function entryKeyAt(position: ListPosition | undefined, sortKey: SortKey): EntryKey | 'none' | undefined {
  if (position === undefined) return undefined
  const key = numberOfKey(position.key, sortKey)
  if (Number.isNaN(key) || /[^\0-\xff]/.test(position.name)) return 'none'
  return { key, name: new Uint8Array(Buffer.from(position.name, 'latin1')) }
}

function numberOfKey(key: string, sortKey: SortKey): number {
  if (sortKey === 'name') return 0
  if (sortKey === 'length') return Number(key)
  return key.length === TIMESTAMP_LENGTH ? parseTimestamp(key) : NaN
}
