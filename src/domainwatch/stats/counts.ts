import { addDays, daysBetween } from './days.ts'
import type { RisingWords, WordWeeks } from './rising-words.ts'
import type { Filters } from '../filters.ts'
import { MAX_LABEL_CHARACTERS } from '../limits.ts'

/** First and last timestamp, both included, as text in the format of records. */
export interface Span {
  readonly from: string
  readonly to: string
}

export interface CountRequest {
  /** The weeks whose words are counted; undefined for none. */
  readonly weeks?: WordWeeks | undefined
  readonly filters: Filters
  /** The days of the series. */
  readonly span: Span
}

export interface Counted {
  readonly days: DayCounts
  readonly totals: Totals
  readonly rising: RisingWords
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
  readonly #indexes: ReadonlyMap<string, number>

  constructor(from: string, to: string) {
    this.date = Array.from({ length: daysBetween(from, to) }, (_, i) => addDays(from, i))
    this.#indexes = new Map(this.date.map((day, i) => [day, i]))
    this.registered = this.date.map(() => 0)
    this.deleted = this.date.map(() => 0)
  }

  add(series: 'registered' | 'deleted', day: string, count: number): void {
    const index = this.#indexes.get(day)
    if (index !== undefined) this[series][index] = (this[series][index] ?? 0) + count
  }

  toJSON() {
    return { date: this.date, registered: this.registered, deleted: this.deleted }
  }
}

/**
 * Agents that are counted separately; records of further ones are counted as others. A group has few members, but any text
 * can be an agent.
 */
const MAX_AGENTS = 10_000

/** Number of records, and how many of them have each mark. */
export type Marks = Readonly<Record<'records' | 'bought' | 'reserved' | 'revision' | 'discarded', number>>

/** Totals by length, agent and mark, accumulated in parts. */
export class Totals {
  readonly overall = { records: 0, bought: 0, deleted: 0, reserved: 0, revision: 0, discarded: 0 }
  readonly #lengths = new Uint32Array(MAX_LABEL_CHARACTERS + 1)
  readonly #agents = new Map<string, number>()

  /** Adds records of one length. */
  addLength(length: number, { records, bought, reserved, revision, discarded }: Marks): void {
    this.#lengths[length] = (this.#lengths[length] ?? 0) + records
    this.overall.records += records
    this.overall.bought += bought
    this.overall.deleted += records - bought
    this.overall.reserved += reserved
    this.overall.revision += revision
    this.overall.discarded += discarded
  }

  /** Adds records of one agent. */
  addAgent(agent: string, records: number): void {
    const known = this.#agents.get(agent)
    if (records > 0 && (known !== undefined || this.#agents.size < MAX_AGENTS)) {
      this.#agents.set(agent, (known ?? 0) + records)
    }
  }

  /** Counts from the shortest to the longest length, including the lengths between them without records. */
  lengths(): { readonly length: readonly number[]; readonly count: readonly number[] } {
    const first = this.#lengths.findIndex((count) => count > 0)
    if (first < 0) return { length: [], count: [] }
    const last = this.#lengths.findLastIndex((count) => count > 0)
    const length = Array.from({ length: last - first + 1 }, (_, i) => first + i)
    return { length, count: [...this.#lengths.subarray(first, last + 1)] }
  }

  /** The `count` agents with the most records, ties by name, and the number of records of all others. */
  agents(count: number): {
    readonly agent: readonly string[]
    readonly count: readonly number[]
    readonly others: number
  } {
    const most = [...this.#agents]
      .toSorted(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
      .slice(0, count)
    const others = most.reduce((rest, [, records]) => rest - records, this.overall.records)
    return { agent: most.map(([agent]) => agent), count: most.map(([, records]) => records), others }
  }
}
