import type { Clock } from '../lib/clock.ts'
import { accountClient } from '../lib/client.ts'
import { localDateTime } from '../lib/dates.ts'
import {
  allMatches,
  finish,
  parseTimestamp,
  TimeSlice,
  type IndexQuery,
  type Segment,
} from '../lib/name-index/index.ts'
import { type FilterContext, splitTags } from './filtered-record.ts'
import type { Filters } from './filters.ts'
import { MAX_LABEL_CHARACTERS } from './limits.ts'
import { MARKS, toMarks } from './list/hits.ts'
import type { DomainContext } from './context.ts'
import { indexQuery, type IndexSegments } from './list/search.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const FIRST = Date.parse('0001-01-01T00:00:00Z')
const LAST = Date.parse('9999-12-31T00:00:00Z')
const DAY_LENGTH = 'YYYY-MM-DD'.length

/** The day of a timestamp `YYYY-MM-DD HH:MM:SS`. */
export const dayOf = (timestamp: string): string => timestamp.slice(0, DAY_LENGTH)

/** Today in a time zone. */
export const todayIn = (timeZone: string, clock: Clock): string => dayOf(localDateTime(clock.now(), timeZone))

/** Adds days to a calendar day, within the years 1 to 9999. */
export function addDays(day: string, count: number): string {
  const time = Date.parse(`${day}T00:00:00Z`) + count * DAY_MS
  if (time < FIRST) return '0001-01-01'
  return time > LAST ? '9999-12-31' : new Date(time).toISOString().slice(0, DAY_LENGTH)
}

/** The number of calendar days from one to another, both included; 0 or less if the second is before the first. */
export function daysBetween(from: string, to: string): number {
  return (Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / DAY_MS + 1
}

/** First and last timestamp, both included, as text in the format of records. */
export interface Span {
  readonly from: string
  readonly to: string
}

/** Timestamps of one day differ in their last 17 bits only. */
const dayNumber = (timestamp: number): number => Math.floor(timestamp / 2 ** 17)

/** Registrations and deletions per day of a span. */
class DayCounts {
  readonly date: readonly string[]
  readonly registered: number[]
  readonly deleted: number[]
  readonly #indexes: ReadonlyMap<number, number>

  constructor({ from, to }: Span) {
    const first = dayOf(from)
    this.date = Array.from({ length: daysBetween(first, dayOf(to)) }, (_, i) => addDays(first, i))
    this.#indexes = new Map(this.date.map((day, i) => [dayNumber(parseTimestamp(`${day} 00:00:00`)), i]))
    this.registered = this.date.map(() => 0)
    this.deleted = this.date.map(() => 0)
  }

  /** @param timestamp as the index has it; days that are not in the span are not counted */
  add(series: 'registered' | 'deleted', timestamp = NaN): void {
    const index = this.#indexes.get(dayNumber(timestamp))
    if (index !== undefined) this[series][index] = (this[series][index] ?? 0) + 1
  }
}

/** Keys that are counted: a group has few agents and tags, but any text can be one. */
const MAX_KEYS = 10_000

/** The number of records by key: an agent or a tag. */
class KeyCounts {
  readonly #counts = new Map<string, number>()

  add(key: string, records: number): void {
    const known = this.#counts.get(key)
    if (records > 0 && (known !== undefined || this.#counts.size < MAX_KEYS))
      this.#counts.set(key, (known ?? 0) + records)
  }

  /** Returns the `limit` keys with the most records, ties by key. */
  top(limit: number) {
    const most = [...this.#counts]
      .toSorted(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
      .slice(0, limit)
    return { keys: most.map(([key]) => key), count: most.map(([, records]) => records) }
  }
}

const WEEK_DAYS = 7
/** The weeks that the last one is compared with. */
const EARLIER_WEEKS = 12
/** Names of the last week with a word: fewer are chance. */
const MIN_COUNT = 3

/** Finds the words that more newly registered names have in the last week than in the weeks before. */
class RisingWords {
  /** From the first moment of the earlier weeks to the last one of today. */
  readonly span: Span
  readonly #lastWeek: number
  readonly #counts = new Map<string, { week: number; earlier: number }>()

  /** @param today the last day of the last week */
  constructor(today: string) {
    const lastWeek = addDays(today, 1 - WEEK_DAYS)
    const from = addDays(lastWeek, -WEEK_DAYS * EARLIER_WEEKS)
    this.span = { from: `${from} 00:00:00`, to: `${today} 23:59:59` }
    this.#lastWeek = parseTimestamp(`${lastWeek} 00:00:00`)
  }

  /** Counts the words of one name, each once. @param registered as the index has it */
  add(words: Iterable<string>, registered = NaN): void {
    for (const word of new Set(words)) {
      let counts = this.#counts.get(word)
      if (counts === undefined) this.#counts.set(word, (counts = { week: 0, earlier: 0 }))
      if (registered >= this.#lastWeek) counts.week++
      else counts.earlier++
    }
  }

  /**
   * Returns the words with the clearest rise: by how many standard deviations of a Poisson distribution the week exceeds the
   * mean of the earlier ones, to which one name is added so that a new word does not beat all others.
   * @param limit how many words
   */
  top(limit: number) {
    const rising = [...this.#counts]
      .map(([word, { week, earlier }]) => ({ word, week, mean: earlier / EARLIER_WEEKS }))
      .filter(({ week, mean }) => week >= MIN_COUNT && week > mean)
      .map((each) => ({ ...each, rise: (each.week - each.mean) / Math.sqrt(each.mean + 1) }))
      .toSorted((one, other) => other.rise - one.rise || (one.word < other.word ? -1 : 1))
      .slice(0, limit)
    return {
      word: rising.map(({ word }) => word),
      week: rising.map(({ week }) => week),
      mean: rising.map(({ mean }) => Math.round(mean * 100) / 100),
    }
  }
}

/** The number of records of each length that have each combination of marks. */
class MarkCounts {
  readonly #counts = new Uint32Array((MAX_LABEL_CHARACTERS + 1) << MARKS.length)

  /** @param marks a bit for each of `MARKS` */
  add(length: number, marks: number): void {
    increment(this.#counts, (length << MARKS.length) | marks)
  }

  /** Counts from the shortest to the longest length, including the lengths between them without records. */
  lengths() {
    const byLength = Array.from({ length: MAX_LABEL_CHARACTERS + 1 }, (_, length) =>
      this.#counts
        .subarray(length << MARKS.length, (length + 1) << MARKS.length)
        .reduce((sum, count) => sum + count, 0),
    )
    const length = [...byLength.keys()]
    const [first, last] = [byLength.findIndex(isSome), byLength.findLastIndex(isSome) + 1]
    return first < 0
      ? { length: [], count: [] }
      : { length: length.slice(first, last), count: byLength.slice(first, last) }
  }

  totals() {
    const having = (mark: (typeof MARKS)[number]) => {
      const bit = 1 << MARKS.indexOf(mark)
      return this.#counts.reduce((sum, count, i) => ((i & bit) === 0 ? sum : sum + count), 0)
    }
    const records = this.#counts.reduce((sum, count) => sum + count, 0)
    const bought = having('status')
    return {
      records,
      bought,
      deleted: records - bought,
      reserved: having('reserved'),
      revision: having('revision'),
      discarded: having('discarded'),
    }
  }
}

const isSome = (count: number) => count > 0

function increment(counts: Uint32Array, index: number): void {
  counts[index] = (counts[index] ?? 0) + 1
}

interface StatsRequest {
  readonly filters: Filters
  /** The days of the series. */
  readonly span: Span
  /** How many agents are listed separately. */
  readonly agents: number
  /** How many rising words, and how many tags, are listed; 0 for no list. */
  readonly rising: number
  readonly tags: number
}

/**
 * Counts records for charts.
 * @param signal ends the counting
 * @throws OverloadError if too many requests wait
 */
export function countRecords(
  { clock, nameIndex, searches }: Pick<DomainContext, 'clock' | 'nameIndex' | 'searches'>,
  request: StatsRequest,
  account: number,
  signal: AbortSignal,
) {
  const count = async () => {
    const segments = await nameIndex.current({ filters: request.filters, left: () => signal })
    return countInIndex(segments, request, nameIndex.contextAt(clock.now()), signal)
  }
  return searches.run(accountClient(account), count, signal)
}

/**
 * Counts in memory, as of the call: later changes have no effect.
 * @param signal ends the counting
 */
export async function countInIndex(
  segments: IndexSegments,
  { filters, span, agents, rising, tags }: StatsRequest,
  context: FilterContext,
  signal?: AbortSignal,
) {
  const registered = segments.registered.map((segment) => segment.snapshot())
  const deleted = segments.deleted.map((segment) => segment.snapshot())
  const slice = new TimeSlice()
  type OnMatch = (segment: Segment, position: number) => void
  const visit = (visited: readonly Segment[], query: IndexQuery, onMatch: OnMatch) =>
    finish(allMatches(visited, query, slice, onMatch), slice, signal)
  /** The days of the series are limited by the span alone. */
  const ofAnyDate = { ...filters, from: undefined, to: undefined }
  /** A record that was first recorded as deleted has the time of its deletion as its date, and no registration. */
  const visitRegistrations = (dates: Span, onMatch: OnMatch) =>
    visit(registered, indexQuery({ ...ofAnyDate, ...dates }, context), (segment, position) => {
      if (segment.deletedAt(position) !== segment.columns.keys[position]) onMatch(segment, position)
    })

  const days = new DayCounts(span)
  await visitRegistrations(span, ({ columns }, position) => days.add('registered', columns.keys[position]))
  const inSpan = indexQuery(ofAnyDate, context, [{ kind: 'date', of: 'deleted', ...span }])
  await visit(deleted, inSpan, ({ columns }, position) => days.add('deleted', columns.keys[position]))
  const words = new RisingWords(dayOf(context.localNow))
  if (rising > 0)
    await visitRegistrations(words.span, (segment, position) =>
      words.add(segment.toWords(position), segment.columns.keys[position]),
    )
  const marks = new MarkCounts()
  const [byAgent, byTag] = [new KeyCounts(), new KeyCounts()]
  const matching = indexQuery(filters, context)
  for (const segment of registered) {
    const { agent, agents: names } = segment.columns
    const ofAgents = new Uint32Array(names.length)
    const ofTags = new Map<string, number>()
    await visit([segment], matching, (_, position) => {
      increment(ofAgents, agent[position] ?? 0)
      marks.add(segment.getLength(position), toMarks(segment, position))
      const text = segment.toTags(position)
      if (text !== '') ofTags.set(text, (ofTags.get(text) ?? 0) + 1)
    })
    for (const [i, name] of names.entries()) byAgent.add(name, ofAgents[i] ?? 0)
    for (const [text, records] of ofTags) for (const tag of splitTags(text)) byTag.add(tag, records)
  }
  const totals = marks.totals()
  const { keys: agent, count } = byAgent.top(agents)
  const others = count.reduce((rest, records) => rest - records, totals.records)
  const most = byTag.top(tags)
  return {
    days: { date: days.date, registered: days.registered, deleted: days.deleted },
    lengths: marks.lengths(),
    agents: { agent, count, others },
    totals,
    ...(rising > 0 && { words: words.top(rising) }),
    ...(tags > 0 && { tags: { tag: most.keys, count: most.count } }),
  }
}
