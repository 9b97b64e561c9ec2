import type { IndexQuery } from './query.ts'
import { Scan, type Range } from './scan.ts'
import { type EntryKey, type Hit, Segment, compareBytes } from './segment.ts'
import { type SlicedWork, TimeSlice, finishNow } from './slices.ts'
import type { Columns } from './columns.ts'

/** Which part of a list to search. */
interface Section {
  /** Only entries after this one, in the direction of the search. */
  readonly after?: EntryKey | undefined
  /** Only entries from one to another, inclusive. */
  readonly low?: EntryKey
  readonly high?: EntryKey
}

/** Finds the matches of a list, merged from its segments, in one direction. Removals after its first pause have no effect. */
export class MergedSearch {
  /** Those that have a match, the one with the first match last. */
  readonly #found: Scan[] = []
  /** Those whose next match is not known yet. */
  readonly #waiting: Scan[]
  readonly #newestFirst: boolean
  readonly #slice: TimeSlice | undefined
  #isFrozen = false

  /** @param slice when to pause; never by default */
  constructor(
    segments: readonly Segment[],
    query: IndexQuery,
    newestFirst: boolean,
    section: Section,
    slice?: TimeSlice,
  ) {
    this.#newestFirst = newestFirst
    this.#slice = slice
    this.#waiting = segments.map(
      (segment) => new Scan(segment, query, rangeOf(segment, query, newestFirst, section), newestFirst),
    )
  }

  /** Returns the next matches, at most `limit`: fewer are the last ones. */
  *next(limit: number): SlicedWork<Hit[]> {
    const hits: Hit[] = []
    while (hits.length < limit) {
      const scan = this.#waiting.pop()
      if (scan !== undefined) {
        const state = scan.next(this.#slice)
        if (state === 'found') this.#insert(scan)
        if (state !== 'paused') continue
        this.#waiting.push(scan)
        this.#freeze()
        yield
        continue
      }
      const first = this.#found.pop()
      if (first === undefined) break
      hits.push({ segment: first.segment, position: first.position })
      this.#waiting.push(first)
    }
    return hits
  }

  /** From now on, removals of records have no effect. */
  #freeze(): void {
    if (this.#isFrozen) return
    this.#isFrozen = true
    for (const scan of [...this.#found, ...this.#waiting]) scan.freeze()
  }

  #insert(scan: Scan): void {
    const found = this.#found
    let at = found.length
    while (at > 0) {
      const before = found[at - 1]
      if (before === undefined || this.#isBefore(scan, before)) break
      at--
    }
    if (at === found.length) found.push(scan)
    else found.splice(at, 0, scan)
  }

  #isBefore(one: Scan, other: Scan): boolean {
    const newer = compareHits(one, other)
    return this.#newestFirst ? newer > 0 : newer < 0
  }
}

/** Returns the positions of a segment that a query and a section allow. */
function rangeOf(
  segment: Segment,
  query: IndexQuery,
  newestFirst: boolean,
  { after, low, high }: Section,
): Range {
  let from = 0
  let to = segment.columns.count
  const { keys, registered } = segment.columns
  const span = keys === registered ? query.registered : query.deleted
  if (span.to !== Infinity) from = segment.lowerBound({ key: span.to }, true)
  if (span.from !== -Infinity) to = segment.lowerBound({ key: span.from }, false)
  if (high !== undefined) from = Math.max(from, segment.lowerBound(high, true))
  if (low !== undefined) to = Math.min(to, segment.lowerBound(low, false))
  if (after !== undefined && newestFirst) from = Math.max(from, segment.lowerBound(after, false))
  if (after !== undefined && !newestFirst) to = Math.min(to, segment.lowerBound(after, true))
  return [from, to]
}

/** Positive if the first is newer. */
function compareHits(one: Hit, other: Hit): number {
  const difference =
    (one.segment.columns.keys[one.position] ?? 0) - (other.segment.columns.keys[other.position] ?? 0)
  return difference === 0 ? compareNames(one, other) : difference
}

/** Compares the names of two records, byte by byte. */
export function compareNames(one: Hit, other: Hit): number {
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

/** Iterates over all matches, newest first within each segment. Later changes of the segments have no effect. */
export function* allMatches(
  segments: readonly Segment[],
  query: IndexQuery,
  slice: TimeSlice,
  onMatch: (segment: Segment, position: number) => void,
): SlicedWork<void> {
  for (const scan of scansOf(segments, query)) {
    for (let state = scan.next(slice); state !== 'ended'; state = scan.next(slice)) {
      if (state === 'found') onMatch(scan.segment, scan.position)
      else yield
    }
  }
}

/** Counts all matches. Later changes of the segments have no effect. */
export function* countMatches(
  segments: readonly Segment[],
  query: IndexQuery,
  slice: TimeSlice,
): SlicedWork<number> {
  let count = 0
  for (const scan of scansOf(segments, query)) {
    for (let found = scan.countNext(); found !== undefined; found = scan.countNext()) {
      count += found
      if (slice.isOver) yield
    }
  }
  return count
}

/** Returns which records of columns match any of the queries: a bit per record. Runs in any thread. */
export function anyMatches(columns: Columns, queries: readonly IndexQuery[]): Uint32Array {
  // No further query is tested for those that match already.
  const others = new Segment(columns)
  for (const query of queries) {
    const search = allMatches([others], query, new TimeSlice(), (_, position) => others.remove(position))
    finishNow(search)
  }
  return others.live.map((bits) => ~bits)
}

function scansOf(segments: readonly Segment[], query: IndexQuery): readonly Scan[] {
  return segments.map((segment) => {
    const scan = new Scan(segment, query, rangeOf(segment, query, true, {}), true)
    scan.freeze()
    return scan
  })
}
