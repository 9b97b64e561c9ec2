import { parseTimestamp } from '../../lib/name-index/index.ts'
import type { Filters } from '../filters.ts'
import { MAX_LABEL_CHARACTERS } from '../limits.ts'

const WEEK_DAYS = 7
/** The weeks that the last one is compared with. */
const EARLIER_WEEKS = 12
/** Names of the last week with a word: fewer are chance. */
const MIN_COUNT = 3

/** Keys that are counted: a group has few agents and tags, but any text can be one. */
const MAX_KEYS = 10_000

/** The number of records by key: an agent or a tag. */
export class KeyCounts {
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

/** The days of the last week, and of the weeks before it. */
export interface WordWeeks {
  /** The first moment of the earlier weeks, of the last week, and the last moment of it. */
  readonly from: string
  readonly lastWeek: string
  readonly to: string
}

/** @param today the last day of the last week */
export function wordWeeks(today: string): WordWeeks {
  const lastWeek = addDays(today, 1 - WEEK_DAYS)
  return {
    from: `${addDays(lastWeek, -WEEK_DAYS * EARLIER_WEEKS)} 00:00:00`,
    lastWeek: `${lastWeek} 00:00:00`,
    to: `${today} 23:59:59`,
  }
}

/** Finds the words that more newly registered names have in the last week than in the weeks before. */
export class RisingWords {
  readonly #counts = new Map<string, { week: number; earlier: number }>()

  /** Counts the words of one name, each once. */
  add(words: Iterable<string>, isLastWeek: boolean): void {
    for (const word of new Set(words)) {
      let counts = this.#counts.get(word)
      if (counts === undefined) this.#counts.set(word, (counts = { week: 0, earlier: 0 }))
      if (isLastWeek) counts.week++
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

const DAY_MS = 24 * 60 * 60 * 1000
const FIRST = Date.parse('0001-01-01T00:00:00Z')
const LAST = Date.parse('9999-12-31T00:00:00Z')
const DAY_LENGTH = 'YYYY-MM-DD'.length

/** The day of a timestamp `YYYY-MM-DD HH:MM:SS`. */
export const dayOf = (timestamp: string): string => timestamp.slice(0, DAY_LENGTH)

/** The first timestamp of a day, as the index has it. */
const getStart = (day: string): number => parseTimestamp(`${day} 00:00:00`)

/** Timestamps of one day differ in their last 17 bits only. */
const dayNumber = (timestamp: number): number => Math.floor(timestamp / 2 ** 17)

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

export interface CountRequest {
  /** The weeks whose words are counted; undefined for none. */
  readonly weeks?: WordWeeks | undefined
  /** How many tags are listed; 0 or undefined for none. */
  readonly tags?: number
  readonly filters: Filters
  /** The days of the series. */
  readonly span: Span
}

export interface Counted {
  readonly days: DayCounts
  readonly totals: Totals
  readonly rising: RisingWords
  readonly tags: KeyCounts
}

/** The filters of the series, whose days are limited by the span alone. */
export const seriesFilters = ({ filters }: CountRequest): Filters => ({
  ...filters,
  from: undefined,
  to: undefined,
})

/** Registrations and deletions per day of a span. */
export class DayCounts {
  readonly date: readonly string[]
  readonly registered: number[]
  readonly deleted: number[]
  readonly #indexes: ReadonlyMap<number, number>

  constructor({ from, to }: Span) {
    const first = dayOf(from)
    this.date = Array.from({ length: daysBetween(first, dayOf(to)) }, (_, i) => addDays(first, i))
    this.#indexes = new Map(this.date.map((day, i) => [dayNumber(getStart(day)), i]))
    this.registered = this.date.map(() => 0)
    this.deleted = this.date.map(() => 0)
  }

  /** @param timestamp as the index has it; days that are not in the span are not counted */
  add(series: 'registered' | 'deleted', timestamp: number, count: number): void {
    const index = this.#indexes.get(dayNumber(timestamp))
    if (index !== undefined) this[series][index] = (this[series][index] ?? 0) + count
  }

  toJSON() {
    return { date: this.date, registered: this.registered, deleted: this.deleted }
  }
}

/** Number of records, and how many of them have each mark. */
export type Marks = Readonly<Record<'records' | 'bought' | 'reserved' | 'revision' | 'discarded', number>>

/** Totals by length, agent and mark, accumulated in parts. */
export class Totals {
  readonly overall = { records: 0, bought: 0, deleted: 0, reserved: 0, revision: 0, discarded: 0 }
  readonly #lengths = new Uint32Array(MAX_LABEL_CHARACTERS + 1)
  readonly #agents = new KeyCounts()

  addLength(length: number, { records, bought, reserved, revision, discarded }: Marks): void {
    this.#lengths[length] = (this.#lengths[length] ?? 0) + records
    this.overall.records += records
    this.overall.bought += bought
    this.overall.deleted += records - bought
    this.overall.reserved += reserved
    this.overall.revision += revision
    this.overall.discarded += discarded
  }

  addAgent(agent: string, records: number): void {
    this.#agents.add(agent, records)
  }

  /** Counts from the shortest to the longest length, including the lengths between them without records. */
  lengths() {
    const first = this.#lengths.findIndex((count) => count > 0)
    if (first < 0) return { length: [], count: [] }
    const last = this.#lengths.findLastIndex((count) => count > 0)
    const length = Array.from({ length: last - first + 1 }, (_, i) => first + i)
    return { length, count: [...this.#lengths.subarray(first, last + 1)] }
  }

  /** The agents with the most records, ties by name, and the number of records of all others. */
  agents(limit: number) {
    const { keys, count } = this.#agents.top(limit)
    return {
      agent: keys,
      count,
      others: count.reduce((rest, records) => rest - records, this.overall.records),
    }
  }
}
