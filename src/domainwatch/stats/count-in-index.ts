import {
  allMatches,
  finish,
  parseTimestamp,
  wordsOf,
  TimeSlice,
  type Segment,
  type IndexQuery,
} from '../../lib/name-index/index.ts'
import { MAX_LABEL_CHARACTERS } from '../limits.ts'
import { splitTags } from '../tags.ts'
import { indexQuery, type IndexSegments } from '../list/search.ts'
import {
  DayCounts,
  seriesFilters,
  Totals,
  type Counted,
  type CountRequest,
  RisingWords,
  KeyCounts,
} from './counts.ts'

/** Status, reserved, revision and discarded, as `marksOf` has them. */
const MARKS = 4

/**
 * Counts in memory, as of the call: later changes have no effect.
 * @param signal ends the counting
 */
export async function countInIndex(
  segments: IndexSegments,
  request: CountRequest,
  now: number,
  signal?: AbortSignal,
): Promise<Counted> {
  const { filters, span, weeks } = request
  const registered = segments.registered.map((segment) => segment.snapshot())
  const deleted = segments.deleted.map((segment) => segment.snapshot())
  const slice = new TimeSlice()
  const visit = (
    visited: readonly Segment[],
    query: IndexQuery,
    onMatch: (segment: Segment, position: number) => void,
  ) => finish(allMatches(visited, query, slice, onMatch), slice, signal)
  const ofAnyDate = seriesFilters(request)
  /** A record that was first recorded as deleted has the time of its deletion as its date, and no registration. */
  const visitRegistrations = (
    from: string,
    to: string,
    onMatch: (segment: Segment, position: number) => void,
  ) =>
    visit(registered, indexQuery({ ...ofAnyDate, from, to }, now), (segment, position) => {
      if (segment.deletedAt(position) !== segment.columns.keys[position]) onMatch(segment, position)
    })

  const days = new DayCounts(span)
  await visitRegistrations(span.from, span.to, ({ columns }, position) =>
    days.add('registered', columns.keys[position] ?? NaN, 1),
  )
  const inSpan = indexQuery(ofAnyDate, now, [{ kind: 'date', of: 'deleted', ...span }])
  await visit(deleted, inSpan, ({ columns }, position) =>
    days.add('deleted', columns.keys[position] ?? NaN, 1),
  )
  const rising = new RisingWords()
  if (weeks !== undefined) {
    const lastWeek = parseTimestamp(weeks.lastWeek)
    await visitRegistrations(weeks.from, weeks.to, (segment, position) =>
      rising.add(wordsOf(segment, position), (segment.columns.keys[position] ?? NaN) >= lastWeek),
    )
  }
  const totals = new Totals()
  const tags = new KeyCounts()
  const matching = indexQuery(filters, now)
  for (const segment of registered) {
    const { agent, agents, tags: tagged } = segment.columns
    const byAgent = new Uint32Array(agents.length)
    const byTagSet = new Uint32Array(tagged.sets.length)
    // For each length, the records of each of the 16 combinations of marks.
    const byMarks = new Uint32Array((MAX_LABEL_CHARACTERS + 1) << MARKS)
    await visit([segment], matching, (_, position) => {
      increment(byAgent, agent[position] ?? 0)
      increment(byTagSet, segment.tagSetOf(position))
      increment(byMarks, (segment.lengthOf(position) << MARKS) | segment.marksOf(position))
    })
    for (let length = 1; length <= MAX_LABEL_CHARACTERS; length++) {
      const counts = byMarks.subarray(length << MARKS, (length + 1) << MARKS)
      const having = (mark: number) =>
        counts.reduce((sum, count, set) => (((set >> mark) & 1) === 1 ? sum + count : sum), 0)
      totals.addLength(length, {
        records: counts.reduce((sum, count) => sum + count, 0),
        bought: having(0),
        reserved: having(1),
        revision: having(2),
        discarded: having(3),
      })
    }
    for (const [i, name] of agents.entries()) totals.addAgent(name, byAgent[i] ?? 0)
    for (const [i, records] of byTagSet.entries())
      for (const tag of splitTags(tagged.sets[i] || null)) tags.add(tag, records)
  }
  return { days, totals, rising, tags }
}

function increment(counts: Uint32Array, index: number): void {
  counts[index] = (counts[index] ?? 0) + 1
}
