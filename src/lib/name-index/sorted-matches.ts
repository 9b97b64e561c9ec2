import { numberAt, type Columns, getBounds, numberBounds, type BlockBounds } from './columns.ts'
import { allMatches, compareNames } from './merged-search.ts'
import type { IndexQuery } from './query.ts'
import { type EntryKey, type Hit, type Segment, compareBytes } from './segment.ts'
import type { SlicedWork, TimeSlice } from './slices.ts'

/** An order by the imported numbers of one key, which all sorted records have. */
export type NumberOrder = `num_${string}`
const NUMBER_PREFIX = 'num_'
export const isNumberOrder = (order: string | undefined): order is NumberOrder =>
  order?.startsWith(NUMBER_PREFIX) === true
export const toNumberKey = (order: NumberOrder): string => order.slice(NUMBER_PREFIX.length)

/** Orders that no segment is sorted by. */
type FixedOrder = 'modified' | 'name' | 'length'
export type SortedOrder = FixedOrder | 'score' | NumberOrder

/** Returns numbers that something outside of the index gives the records of columns, by their positions. */
export type ScoresOf = (columns: Columns) => Uint32Array

export interface SortedSearch {
  readonly order: SortedOrder
  readonly descending: boolean
  readonly limit: number
  /** Only entries after this one, in the direction of the search. */
  readonly after?: EntryKey | undefined
  /** What the order by score sorts by. */
  readonly getScores?: ScoresOf | undefined
}

/**
 * The first matches in an order that segments are not sorted by: visits all blocks that can have one, and keeps the best. Later
 * changes of the segments have no effect on the result.
 */
export function* sortedMatches(
  segments: readonly Segment[],
  query: IndexQuery,
  search: SortedSearch,
  slice: TimeSlice,
): SlicedWork<readonly Hit[]> {
  const best = new BestMatches(search)
  const candidates = [...query.candidates, (segment: Segment) => best.candidates(segment)]
  const onMatch = (segment: Segment, position: number) => best.offer(segment, position)
  yield* allMatches(segments, { ...query, candidates }, slice, onMatch)
  return best.toSorted()
}

/** Matches that are added to the best in one sort: some milliseconds of work, whatever the limit. */
const MAX_UNSORTED = 1_000

interface RankedHit extends Hit {
  readonly key: number
}

/** Keeps the best matches. Each sort merges those that were added since the last one, and drops as many. */
class BestMatches {
  readonly #search: SortedSearch
  readonly #keyOf: KeyOf
  #hits: RankedHit[] = []
  /** The last of the best so far, once there are enough. */
  #last: RankedHit | undefined

  constructor({ after, ...search }: SortedSearch) {
    const isByName = search.order === 'name'
    this.#search = {
      ...search,
      after: after && isByName ? { ...after, key: namePrefix(after.name, 0, after.name.length) } : after,
    }
    this.#keyOf = keysBy(search.order, search.getScores)
  }

  offer(segment: Segment, position: number): void {
    const { after, descending, limit } = this.#search
    const sign = descending ? -1 : 1
    const key = this.#keyOf(segment.columns, position)
    const last = this.#last
    // Allocates nothing for a match that is ruled out: there may be millions.
    if (last !== undefined) {
      const { names, starts } = last.segment.columns
      const from = starts[last.position] ?? 0
      const to = starts[last.position + 1] ?? 0
      const behind = key - last.key || compareName(segment, position, names, from, to)
      if (behind * sign > 0) return
    }
    if (after !== undefined) {
      const { name } = after
      const behind = key - after.key || compareName(segment, position, name, 0, name.length)
      if (behind * sign <= 0) return
    }
    this.#hits.push({ segment, position, key })
    if (this.#hits.length >= limit + Math.min(limit, MAX_UNSORTED)) {
      this.#hits = this.toSorted()
      this.#last = this.#hits.at(-1)
    }
  }

  /** Rules out the blocks whose records are all before the position to search after, or behind the best so far. */
  candidates({ columns }: Segment): (block: number) => number {
    const { order, after, descending, getScores } = this.#search
    const bounds = boundsBy(order, columns, getScores)
    return (block) => {
      const [first, last] = [bounds.smallest(block), bounds.largest(block)]
      const best = this.#last
      const isPossible = descending
        ? (after === undefined || first <= after.key) && (best === undefined || last >= best.key)
        : (after === undefined || last >= after.key) && (best === undefined || first <= best.key)
      return isPossible ? -1 : 0
    }
  }

  /** The best matches, in order. */
  toSorted(): RankedHit[] {
    return this.#hits.toSorted((one, other) => this.#compare(one, other)).slice(0, this.#search.limit)
  }

  #compare(one: RankedHit, other: RankedHit): number {
    const ascending = one.key - other.key || compareNames(one, other)
    return this.#search.descending ? -ascending : ascending
  }
}

function compareName(
  { columns: { names, starts } }: Segment,
  position: number,
  other: Uint8Array,
  from: number,
  to: number,
): number {
  return compareBytes(names, starts[position] ?? 0, starts[position + 1] ?? 0, other, from, to)
}

type KeyOf = (columns: Columns, position: number) => number

function keysBy(order: SortedOrder, getScores?: ScoresOf): KeyOf {
  if (isNumberOrder(order)) {
    const key = toNumberKey(order)
    return (columns, position) => numberAt(columns, key, position)
  }
  if (order !== 'score') return KEYS[order]
  let last: Columns | undefined
  let scores: Uint32Array = new Uint32Array()
  return (columns, position) => {
    if (columns !== last) [last, scores] = [columns, getScores?.(columns) ?? scores]
    return scores[position] ?? 0
  }
}

function boundsBy(order: SortedOrder, columns: Columns, getScores?: ScoresOf): BlockBounds {
  if (isNumberOrder(order)) return numberBounds(columns, toNumberKey(order))
  const { count, names, starts, modified } = columns
  if (order === 'score') {
    const scores = getScores?.(columns) ?? new Uint32Array(count)
    return getBounds(scores, count, (position) => scores[position] ?? 0)
  }
  const column = { modified, length: starts, name: names }[order]
  return getBounds(column, count, (position) => KEYS[order](columns, position))
}

const KEYS: Readonly<Record<FixedOrder, KeyOf>> = {
  modified: ({ modified }, position) => modified[position] ?? NaN,
  length: ({ starts }, position) => (starts[position + 1] ?? 0) - (starts[position] ?? 0),
  name: ({ names, starts }, position) => namePrefix(names, starts[position] ?? 0, starts[position + 1] ?? 0),
}

/** Bytes that fit in a number exactly. */
const PREFIX_BYTES = 6

/** The first bytes of a name as a number, so that most comparisons need no further bytes. */
function namePrefix(names: Uint8Array, start: number, end: number): number {
  let prefix = 0
  for (let at = start; at < start + PREFIX_BYTES; at++)
    prefix = prefix * 256 + (at < end ? (names[at] ?? 0) : 0)
  return prefix
}
