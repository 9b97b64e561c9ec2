import { localDateTime } from '../lib/dates.ts'

/** What filters look at besides the record. */
export interface FilterContext {
  /** Milliseconds since 1970. */
  readonly now: number
  /** The same in the time zone of the service, like the dates of records. */
  readonly localNow: string
}

export type ContextAt = (now: number) => FilterContext

/** The time alone. */
export class Moment {
  readonly now: number
  readonly #timeZone: string

  constructor(now: number, timeZone: string) {
    this.now = now
    this.#timeZone = timeZone
  }

  /** Few filters ask for it. */
  get localNow(): string {
    return localDateTime(this.now, this.#timeZone)
  }
}
