import { localDateTime } from '../lib/dates.ts'
import { twinKey, type Candidates } from '../lib/name-index/index.ts'

/** What other records say of a name. */
export interface NameSignals {
  /** Returns the smallest number of bought records with one of these words; null if none of the words counts. */
  readonly getDemand: (words: readonly string[]) => number | null
  /** Returns which records can have a demand of this number or more; all by default. */
  readonly inDemand?: (wanted: number) => Candidates
  /** Whether a bought record has a twin of this name, which is in Latin-1. */
  readonly hasBoughtTwin: (name: Uint8Array, now: number) => boolean
  /** Returns the first of the name and its twins, by name. */
  readonly firstTwins: (name: Uint8Array, now: number) => readonly string[]
}

/** What filters and fields look at besides the record: the time, and other records. */
export class FilterContext {
  /** Milliseconds since 1970. */
  readonly now: number
  readonly #timeZone: string
  readonly #signals: NameSignals
  /** The names that are twins of each other have the same list. */
  readonly #twins = new Map<string, readonly string[]>()

  constructor(now: number, timeZone: string, signals: NameSignals) {
    this.now = now
    this.#timeZone = timeZone
    this.#signals = signals
  }

  /** Now in the time zone of the service, like the dates of records. Few filters ask for it. */
  get localNow(): string {
    return localDateTime(this.now, this.#timeZone)
  }

  getDemand(words: readonly string[]): number | null {
    return this.#signals.getDemand(words)
  }

  inDemand(wanted: number): Candidates | undefined {
    return this.#signals.inDemand?.(wanted)
  }

  /** @param name in Latin-1 */
  hasBoughtTwin(name: Uint8Array): boolean {
    return this.#signals.hasBoughtTwin(name, this.now)
  }

  /** Returns the first twins of a name, by name. */
  getTwins(name: string): readonly string[] {
    const bytes = Buffer.from(name, 'latin1')
    const key = twinKey(bytes)
    let first = this.#twins.get(key)
    if (first === undefined) this.#twins.set(key, (first = this.#signals.firstTwins(bytes, this.now)))
    return first.filter((other) => other !== name).slice(0, MAX_TWINS)
  }
}

/** Twins in the field of a record. */
export const MAX_TWINS = 10

export type ContextAt = (now: number) => FilterContext
