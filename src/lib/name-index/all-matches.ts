import { rangeOf } from './merged-search.ts'
import type { IndexQuery } from './query.ts'
import { Scan } from './scan.ts'
import type { Columns } from './columns.ts'
import { Segment } from './segment.ts'
import { finishNow, TimeSlice, type SlicedWork } from './slices.ts'

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
