import {
  allMatches,
  finish,
  parseTimestamp,
  wordsOf,
  TimeSlice,
  type Segment,
  type IndexQuery,
} from '../../lib/name-index/index.ts'
import type { FilterContext } from '../filter-context.ts'
import { MAX_LABEL_CHARACTERS } from '../limits.ts'
import { splitTags } from '../tags.ts'
import { MARKS, marksOf } from '../list/hits.ts'
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

/**
 * Counts in memory, as of the call: later changes have no effect.
 * @param signal ends the counting
 */
export async function countInIndex(
  segments: IndexSegments,
  request: CountRequest,
  context: FilterContext,
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
    visit(registered, indexQuery({ ...ofAnyDate, from, to }, context), (segment, position) => {
      if (segment.deletedAt(position) !== segment.columns.keys[position]) onMatch(segment, position)
    })

  const days = new DayCounts(span)
  await visitRegistrations(span.from, span.to, ({ columns }, position) =>
    days.add('registered', columns.keys[position] ?? NaN, 1),
  )
  const inSpan = indexQuery(ofAnyDate, context, [{ kind: 'date', of: 'deleted', ...span }])
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
  const matching = indexQuery(filters, context)
  for (const segment of registered) {
    const { agent, agents } = segment.columns
    const byAgent = new Uint32Array(agents.length)
    const byTags = new Map<string, number>()
    // For each length, the records of each combination of marks.
    const byMarks = new Uint32Array((MAX_LABEL_CHARACTERS + 1) << MARKS.length)
    await visit([segment], matching, (_, position) => {
      increment(byAgent, agent[position] ?? 0)
      increment(byMarks, (segment.lengthOf(position) << MARKS.length) | marksOf(segment, position))
      const text = segment.tagsOf(position)
      if (text !== '') byTags.set(text, (byTags.get(text) ?? 0) + 1)
    })
    for (let length = 1; length <= MAX_LABEL_CHARACTERS; length++) {
      const counts = byMarks.subarray(length << MARKS.length, (length + 1) << MARKS.length)
      const having = (mark: (typeof MARKS)[number]) => {
        const bit = 1 << MARKS.indexOf(mark)
        return counts.reduce((sum, count, marks) => ((marks & bit) === 0 ? sum : sum + count), 0)
      }
      totals.addLength(length, {
        records: counts.reduce((sum, count) => sum + count, 0),
        bought: having('status'),
        reserved: having('reserved'),
        revision: having('revision'),
        discarded: having('discarded'),
      })
    }
    for (const [i, name] of agents.entries()) totals.addAgent(name, byAgent[i] ?? 0)
    for (const [text, records] of byTags) for (const tag of splitTags(text)) tags.add(tag, records)
  }
  return { days, totals, rising, tags }
}

function increment(counts: Uint32Array, index: number): void {
  counts[index] = (counts[index] ?? 0) + 1
}
