import { setImmediate as nextTurn } from 'node:timers/promises'
import { rangeOf } from './first-matches.ts'
import type { IndexQuery } from './query.ts'
import { Scan } from './scan.ts'
import type { Segment } from './segment.ts'

/** How long work blocks the event loop. */
const SLICE_MS = 3
/** Positions between checks of the clock: some 2 ms if all match. */
const PIECE = 32_768

/** Divides long work on the event loop into slices, so that other work gets a turn. */
export class TimeSlice {
  #since = performance.now()

  /** Returns to the event loop if the slice is over. */
  async yieldIfOver(): Promise<void> {
    if (performance.now() - this.#since < SLICE_MS) return
    await nextTurn()
    this.#since = performance.now()
  }
}

/**
 * Scans all matches, newest first within each segment, in pieces between which other work on the event loop gets a turn. Later
 * changes of the segments have no effect.
 * @param narrowed returns the query for the next piece, which may exclude more
 */
export async function* scanInSlices(
  segments: readonly Segment[],
  query: IndexQuery,
  slice = new TimeSlice(),
  narrowed = () => query,
): AsyncGenerator<Scan> {
  if (query.minLength > query.maxLength) return
  for (const segment of segments.map((each) => each.snapshot())) {
    const [first, last] = rangeOf(segment, query, true, {})
    for (let from = first; from < last;) {
      // Pieces end at block boundaries.
      const to = Math.min(last, from - (from % PIECE) + PIECE)
      yield new Scan(segment, narrowed(), [from, to], true)
      from = to
      await slice.yieldIfOver()
    }
  }
}
