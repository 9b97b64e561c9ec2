import { compareNames } from './first-matches.ts'
import type { IndexQuery } from './query.ts'
import { type EntryKey, type Hit, type Segment, compareBytes } from './segment.ts'
import type { Span } from './timestamp.ts'
import { scanInSlices } from './slices.ts'

/** Orders that no segment is sorted by. */
export const SORTED_ORDERS = ['modified', 'name', 'length'] as const
export type SortedOrder = (typeof SORTED_ORDERS)[number]

/** Matches are dense if more than one in this many records matches. */
const DENSE = 16
/** Records whose share of matches is taken for that of all. */
const MIN_VISITED = 32_768
/** With fewer records a search is always cheap. */
const MIN_DENSE_RECORDS = 200_000

export interface SortedSearch {
  readonly order: SortedOrder
  readonly descending: boolean
  readonly limit: number
  /** Only entries after this one, in the direction of the search. */
  readonly after?: EntryKey | undefined
  /** Whether to stop when reading the matches in order from the database is cheaper, because they are many. */
  readonly unlessDense: boolean
}

/**
 * The first matches in an order that segments are not sorted by: visits all matches, except those that the best ones so far
 * rule out, and keeps the best. Later changes of the segments have no effect on the result.
 * @returns undefined if the matches are dense
 */
export async function sortedMatches(
  segments: readonly Segment[],
  query: IndexQuery,
  search: SortedSearch,
): Promise<readonly Hit[] | undefined> {
  const records = segments.reduce((sum, { columns }) => sum + columns.count, 0)
  const isTested = search.unlessDense && records >= MIN_DENSE_RECORDS
  const best = new BestMatches(search)
  let [visited, matches] = [0, 0]
  const narrowed = () => best.narrow(query)
  for await (const scan of scanInSlices(segments, query, undefined, narrowed)) {
    while (scan.next()) {
      matches++
      best.offer(scan.segment, scan.position)
    }
    visited += scan.positions
    if (isTested && visited >= MIN_VISITED && matches * DENSE > visited) return undefined
  }
  return best.toSorted()
}

interface RankedHit extends Hit {
  readonly key: number
}

/**
 * Keeps the best matches: up to twice as many as wanted, so that each sort drops as many as were added since the
 * last.
 */
class BestMatches {
  readonly #search: SortedSearch
  readonly #keyOf: (segment: Segment, position: number) => number
  #hits: RankedHit[] = []
  /** The last of the best so far, once there are enough. */
  #last: RankedHit | undefined

  constructor(search: SortedSearch) {
    this.#search = search
    this.#keyOf = KEYS[search.order]
  }

  offer(segment: Segment, position: number): void {
    const { after, descending, limit } = this.#search
    const sign = descending ? -1 : 1
    const key = this.#keyOf(segment, position)
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
    if (this.#hits.length >= 2 * limit) {
      this.#hits = this.toSorted()
      this.#last = this.#hits.at(-1)
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

  /** Adds to a query what the start of the search and the best matches so far rule out. */
  narrow(query: IndexQuery): IndexQuery {
    const { order, descending, after } = this.#search
    const ends = descending
      ? { from: this.#last?.key, to: after?.key }
      : { from: after?.key, to: this.#last?.key }
    const { from = -Infinity, to = Infinity } = ends
    switch (order) {
      case 'modified':
        return { ...query, modified: within(query.modified, { from, to }) }
      case 'length':
        return {
          ...query,
          minLength: Math.max(query.minLength, from),
          maxLength: Math.min(query.maxLength, to),
        }
      case 'name':
        return query
    }
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

const within = (one: Span, other: Span): Span => ({
  from: Math.max(one.from, other.from),
  to: Math.min(one.to, other.to),
})

const KEYS: Readonly<Record<SortedOrder, (segment: Segment, position: number) => number>> = {
  modified: ({ columns }, position) => columns.modified[position] ?? NaN,
  length: ({ columns: { starts } }, position) => (starts[position + 1] ?? 0) - (starts[position] ?? 0),
  name: ({ columns: { names, starts } }, position) =>
    namePrefix(names, starts[position] ?? 0, starts[position + 1] ?? 0),
}

/** Bytes that fit in a number exactly. */
const PREFIX_BYTES = 6

/** The first bytes of a name as a number, so that most comparisons need no further bytes. */
export function namePrefix(names: Uint8Array, start: number, end: number): number {
  let prefix = 0
  for (let at = start; at < start + PREFIX_BYTES; at++)
    prefix = prefix * 256 + (at < end ? (names[at] ?? 0) : 0)
  return prefix
}
