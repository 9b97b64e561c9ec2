import { rangeOf, Scan, TimeSlice } from '../../lib/name-index/index.ts'
import type { Filters } from '../filters.ts'
import { indexQuery, type IndexSegments } from './index-page.ts'

/**
 * How long counting blocks the event loop, and positions between checks of the clock: some 2 ms if all are
 * compared.
 */
const SLICE_MS = 3
const PIECE = 65_536

/** Counts the matching records, as of the call. Yields to other work on the event loop. */
export async function countMatches(segments: IndexSegments, filters: Filters, now: number): Promise<number> {
  const query = indexQuery(filters, now)
  const snapshots = segments.registered.map((segment) => segment.snapshot())
  const slice = new TimeSlice(SLICE_MS)
  let count = 0
  for (const segment of snapshots) {
    const [first, last] = rangeOf(segment, query, true, {})
    for (let from = first; from < last;) {
      // Slices end at block boundaries.
      const to = Math.min(last, from - (from % PIECE) + PIECE)
      count += new Scan(segment, query, [from, to], true).count()
      from = to
      await slice.yieldIfOver()
    }
  }
  return count
}
