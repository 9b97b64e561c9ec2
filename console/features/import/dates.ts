/** The date format of a list: `2025-12-31`, `31/12/2025` or `12/31/2025`. */
export type DayOrder = 'year-first' | 'day-first' | 'month-first'

export interface ParsedDate {
  readonly text: string
  readonly isYearFirst: boolean
  readonly year: number
  /** As written: only the whole list shows which of them is the month. */
  readonly first: number
  readonly second: number
  /** `HH:MM:SS` */
  readonly time: string
}

const DATE =
  /^(?:(\d{4})([-/.])(\d\d?)\2(\d\d?)|(\d\d?)([-/.])(\d\d?)\6(\d{4}))(?:(?:[ T]|, ?)(\d\d?):(\d\d)(?::(\d\d)(?:\.\d+)?)?)?$/

/** Splits a date, valid or not; undefined if it is not a date. */
export function parseDate(text: string): ParsedDate | undefined {
  const found = DATE.exec(text.trim())
  if (found === null) return undefined
  const [, year, , month, day, first, , second, lateYear, hours = '0', minutes = '00', seconds = '00'] = found
  return {
    text,
    isYearFirst: year !== undefined,
    year: Number(year ?? lateYear),
    first: Number(month ?? first),
    second: Number(day ?? second),
    time: `${hours.padStart(2, '0')}:${minutes}:${seconds}`,
  }
}

/** What the dates of a list show about the order of day and month. */
export class DayOrderVotes {
  #daysFirst = 0
  #monthsFirst = 0
  #undecided = 0

  add({ isYearFirst, first, second }: ParsedDate): void {
    if (isYearFirst) return
    if (first > 12 && first <= 31 && second <= 12) this.#daysFirst++
    else if (second > 12 && second <= 31 && first <= 12) this.#monthsFirst++
    else this.#undecided++
  }

  /** Undefined if every date starts with the year. */
  get order(): 'day-first' | 'month-first' | undefined {
    if (this.#daysFirst + this.#monthsFirst + this.#undecided === 0) return undefined
    // The Chilean order by default.
    return this.#monthsFirst > 0 && this.#daysFirst === 0 ? 'month-first' : 'day-first'
  }

  /** Whether the list is ambiguous. */
  get isGuess(): boolean {
    return this.#daysFirst === 0 && this.#monthsFirst === 0 && this.#undecided > 0
  }
}

/** `YYYY-MM-DD HH:MM:SS`; undefined for a date or a time that does not exist. */
export function recordDate(written: ParsedDate, order: DayOrder): string | undefined {
  const { isYearFirst, year, first, second, time } = written
  const isDayFirst = !isYearFirst && order !== 'month-first'
  const [month, day] = isDayFirst ? [second, first] : [first, second]
  if (year < 1 || time > '23:59:59' || !/^\d\d:[0-5]\d:[0-5]\d$/.test(time)) return undefined
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined
  const padded = (n: number, digits: number) => String(n).padStart(digits, '0')
  return `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)} ${time}`
}
