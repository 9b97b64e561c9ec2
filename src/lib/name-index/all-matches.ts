import { rangeOf } from './merged-search.ts'
import type { IndexQuery } from './query.ts'
import { Scan } from './scan.ts'
import type { Segment } from './segment.ts'
import type { SlicedWork, TimeSlice } from './slices.ts'

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

function scansOf(segments: readonly Segment[], query: IndexQuery): readonly Scan[] {
  return segments.map((segment) => {
    const scan = new Scan(segment, query, rangeOf(segment, query, true, {}), true)
    scan.freeze()
    return scan
  })
}
