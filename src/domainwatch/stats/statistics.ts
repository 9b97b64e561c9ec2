import type { Clock } from '../../lib/clock.ts'
import { localDateTime } from '../../lib/dates.ts'
import type { Gate } from '../../lib/gate.ts'
import type { Database } from '../../storage/database/database.ts'
import { accountClient } from '../../lib/client.ts'
import { MAX_LABEL_CHARACTERS } from '../limits.ts'
import { lastAdds } from '../queries-records.ts'
import type { NameIndex } from '../list/name-index.ts'
import {
  dayOf,
  type CountRequest,
  DayCounts,
  seriesFilters,
  Totals,
  type Counted,
  RisingWords,
  KeyCounts,
} from './counts.ts'
import {
  allMatches,
  finish,
  parseTimestamp,
  TimeSlice,
  type Segment,
  type IndexQuery,
} from '../../lib/name-index/index.ts'
import { type FilterContext, splitTags } from '../filtered-record.ts'
import { MARKS, toMarks } from '../list/hits.ts'
import { indexQuery, type IndexSegments } from '../list/search.ts'

interface StatsRequest extends CountRequest {
  /** How many agents are listed separately. */
  readonly agents: number
  /** How many rising words are listed; 0 for no list. */
  readonly rising: number
  /** How many tags are listed; 0 for no list. */
  readonly tags: number
}

type Counts = Readonly<Record<'days' | 'lengths' | 'agents' | 'totals', object>> & {
  readonly words?: object
  readonly tags?: object
}

export interface StatisticsOptions {
  readonly database: Database
  readonly clock: Clock
  readonly timeZone: string
  readonly nameIndex: Pick<NameIndex, 'current' | 'contextAt'>
  readonly searches: Gate
}

/** Counts records for charts. */
export class Statistics {
  readonly #options: StatisticsOptions

  constructor(options: StatisticsOptions) {
    this.#options = options
  }

  /** Today, in the time zone of the service. */
  today(): string {
    const { clock, timeZone } = this.#options
    return dayOf(localDateTime(clock.now(), timeZone))
  }

  /**
   * @param signal ends the counting
   * @throws OverloadError if too many requests wait
   */
  counts(request: StatsRequest, account: number, signal: AbortSignal): Promise<Counts> {
    return this.#options.searches.run(accountClient(account), () => this.#read(request, signal), signal)
  }

  /** Returns when each account last added domains, to the second; null if it never did. */
  async lastAdds() {
    const { database, timeZone } = this.#options
    const rows = await database.all(lastAdds())
    return {
      account: rows.map(({ account }) => account),
      last_add: rows.map(({ added_at }) => (added_at === null ? null : localDateTime(added_at, timeZone))),
    }
  }

  async #read(request: StatsRequest, signal: AbortSignal): Promise<Counts> {
    const { clock, nameIndex } = this.#options
    const segments = await nameIndex.current({ filters: request.filters, left: () => signal })
    const context = nameIndex.contextAt(clock.now())
    const { days, totals, rising, tags } = await countInIndex(segments, request, context, signal)
    const most = tags.top(request.tags)
    return {
      days,
      lengths: totals.lengths(),
      agents: totals.agents(request.agents),
      totals: totals.overall,
      ...(request.rising > 0 && { words: rising.top(request.rising) }),
      ...(request.tags > 0 && { tags: { tag: most.keys, count: most.count } }),
    }
  }
}

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
      rising.add(segment.toWords(position), (segment.columns.keys[position] ?? NaN) >= lastWeek),
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
      increment(byMarks, (segment.getLength(position) << MARKS.length) | toMarks(segment, position))
      const text = segment.toTags(position)
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
