import { invalidCursor } from '../../http/headers.ts'
import {
  compareBytes,
  compareNames,
  compileQuery,
  MergedSearch,
  isNumberOrder,
  toNumberKey,
  sortedMatches,
  type EntryKey,
  type Hit,
  type IndexQuery,
  type IndexTerm,
  type Order,
  type Segment,
  type SlicedWork,
  type SortedOrder,
  type TimeSlice,
} from '../../lib/name-index/index.ts'
import { expiryCutoff, MAX_PAGE_RECORDS } from '../limits.ts'
import { type FilterContext, BOUGHT } from '../filtered-record.ts'
import { toConditions, LAYOUT, type Filters, type SavedFilters } from '../filters.ts'
import { RecordOfHit } from './hits.ts'
import {
  isOfAll,
  needsRange,
  stagesFrom,
  toCursor,
  type Listing,
  type ListPage,
  type ListRange,
  type SortKey,
  type Source,
  type Stage,
  type StageName,
} from './order.ts'
import { ANY_TIME, readRuleFilters } from '../rules/index.ts'

/**
 * Records of a range that are sorted without blocking the event loop for long. A range has a page of records at first, but others may
 * be added to it, and a forged cursor may span everything.
 */
const MAX_RANGE_RECORDS = 4 * MAX_PAGE_RECORDS

/** All records, in both orders. */
export type IndexSegments = Readonly<Record<Order, readonly Segment[]>>

/** The filters as the index takes them. @param also further conditions */
export function indexQuery(
  filters: Filters,
  context: FilterContext,
  also: readonly IndexTerm[] = [],
): IndexQuery {
  const terms = toConditions(filters).map((condition): IndexTerm => {
    const { index, matches } = condition
    if (typeof index === 'function') return index(context)
    if (index !== undefined) return index
    const test = (segment: Segment, position: number) =>
      matches(new RecordOfHit({ segment, position }), context)
    return { kind: 'record', test }
  })
  return compileQuery([...terms, ...also], LAYOUT, expiryCutoff(context.now))
}

/**
 * Finds a page.
 * @throws HttpError 400 if by now its cursor spans too many records
 */
export function* findPage(segments: IndexSegments, listing: Listing, slice: TimeSlice): SlicedWork<ListPage> {
  const { limit, sources } = listing
  const isWhole = isOfAll(sources)
  const toHits = isWhole ? undefined : yield* hitsOfSources(segments, listing, slice)
  const ofStages = [...(toHits?.keys() ?? sources)]
  const items: Hit[] = []
  let last: { readonly hit: Hit; readonly stage: Stage } | undefined
  for (const stage of stagesFrom(listing, ofStages)) {
    // One more than fits shows whether there is a next page.
    const wanted = limit + 1 - items.length
    const hits =
      toHits === undefined
        ? yield* hitsOfStage(segments, listing, stage, wanted, slice)
        : sortedHits(toHits, listing, stage)
    const taken = hits.slice(0, wanted - 1)
    items.push(...taken)
    const hit = taken.at(-1)
    if (hit !== undefined) last = { hit, stage }
    if (hits.length === taken.length) continue
    const after = last && toEntryKey(last.hit, last.stage.sortKey, listing)
    return { items, next: after && last && toCursor(ofStages, after, last.stage) }
  }
  return { items, next: undefined }
}

/** The first matches of a stage of all records. */
function* hitsOfStage(
  segments: IndexSegments,
  listing: Listing,
  stage: Stage,
  limit: number,
  slice: TimeSlice,
): SlicedWork<readonly Hit[]> {
  const { filters, context, ascending, ranking } = listing
  const { name, sortKey, after } = stage
  const order = sortedOrder(name)
  const query = stageQuery(filters, context, stage)
  if (order === undefined) {
    const list = segments[sortKey === 'deleted_at' ? 'deleted' : 'registered']
    return yield* new MergedSearch(list, query, !ascending, { after }, slice).next(limit)
  }
  const search = { order, descending: !ascending, limit, after, getScores: ranking?.getScores }
  return yield* sortedMatches(segments.registered, query, search, slice)
}

/** What the index looks for to find the records of a stage. */
function stageQuery(filters: Filters, context: FilterContext, stage: Stage): IndexQuery {
  const { name, has, since } = stage
  const also: IndexTerm[] = name === 'bought' ? [IS_BOUGHT] : []
  if (since !== undefined) also.push({ kind: 'date', of: 'registered', from: since })
  if (has !== undefined)
    also.push({ kind: 'record', test: (segment, position) => has({ segment, position }) })
  return indexQuery(filters, context, also)
}

/** Returns the order as the index knows it, if no segment is sorted by it. */
function sortedOrder(name: StageName | undefined): SortedOrder | undefined {
  if (name === 'interest') return 'score'
  if (isNumberOrder(name)) return name
  return name === 'modified' || name === 'name' || name === 'length' ? name : undefined
}

const IS_BOUGHT: IndexTerm = { kind: 'trait', trait: BOUGHT, min: 1, max: 1 }

/** The records of `last_register` and `last_deleted`, newest first, by their sources with the ranges that later pages need. */
function* hitsOfSources(
  segments: IndexSegments,
  listing: Listing,
  slice: TimeSlice,
): SlicedWork<ReadonlyMap<Source, readonly Hit[]>> {
  const { filters, context } = listing
  const toHits = new Map<Source, readonly Hit[]>()
  for (const source of listing.sources) {
    if (source.kind === 'all') continue
    const { kind, newest, range } = source
    const query = indexQuery(filters, context, kind === 'registered' ? [IS_BOUGHT] : [])
    const search = new MergedSearch(segments[kind], query, true, range ?? {}, slice)
    const found = yield* search.next(range === undefined ? newest : MAX_RANGE_RECORDS + 1)
    if (found.length > MAX_RANGE_RECORDS) throw invalidCursor()
    toHits.set(needsRange(source, listing) ? { ...source, range: rangeOf(found) } : source, found)
  }
  return toHits
}

function rangeOf(newestFirst: readonly Hit[]): ListRange | undefined {
  const [high, low] = [newestFirst[0], newestFirst.at(-1)]
  return high && low && { low: toSegmentKey(low), high: toSegmentKey(high) }
}

/** Returns the records of the sources that a stage has, after its position. */
function sortedHits(
  toHits: ReadonlyMap<Source, readonly Hit[]>,
  listing: Listing,
  { sources, sortKey, after, has = () => true }: Stage,
): readonly Hit[] {
  const hits = sources.flatMap((source) => toHits.get(source) ?? []).filter(has)
  const keys = new Map(hits.map((hit) => [hit, keyOf(hit, sortKey, listing)]))
  const sorted = hits.toSorted((one, other) => {
    const newer = (keys.get(other) ?? NaN) - (keys.get(one) ?? NaN) || compareNames(other, one)
    return listing.ascending ? -newer : newer
  })
  return after === undefined ? sorted : sorted.filter((hit) => isBehind(hit, sortKey, after, listing))
}

function isBehind(hit: Hit, sortKey: SortKey, after: EntryKey, listing: Listing): boolean {
  const { key, name } = toEntryKey(hit, sortKey, listing)
  const newer = key - after.key || compareBytes(name, 0, name.length, after.name, 0, after.name.length)
  return listing.ascending ? newer > 0 : newer < 0
}

/** The number by which a record is sorted; the same for all where that is the name. */
function keyOf(hit: Hit, sortKey: SortKey, { ranking }: Listing): number {
  const { segment, position } = hit
  const { registered, modified } = segment.columns
  switch (sortKey) {
    case 'date_reg':
      return registered[position] ?? NaN
    case 'date_mod':
      return modified[position] ?? NaN
    case 'deleted_at':
      return segment.deletedAt(position)
    case 'length':
      return segment.getLength(position)
    case 'interest':
      return ranking?.getScore(hit) ?? NaN
    case 'name':
      return 0
    default:
      return segment.importedNumber(toNumberKey(sortKey), position)
  }
}

function toEntryKey(hit: Hit, sortKey: SortKey, listing: Listing): EntryKey {
  return { key: keyOf(hit, sortKey, listing), name: hit.segment.nameOf(hit.position) }
}

/** Its position in the order of its segment. */
function toSegmentKey({ segment, position }: Hit): EntryKey {
  return { key: segment.columns.keys[position] ?? NaN, name: segment.nameOf(position) }
}

/** Returns what the index looks for to find the records that rules hide. */
export function toQueries(hiding: readonly SavedFilters[]): readonly IndexQuery[] {
  return hiding.flatMap((saved) => {
    const filters = readRuleFilters(saved)
    return filters === undefined ? [] : indexQuery(filters, ANY_TIME)
  })
}
