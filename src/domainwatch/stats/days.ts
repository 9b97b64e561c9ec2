const DAY_MS = 24 * 60 * 60 * 1000
const DAY_LENGTH = 'YYYY-MM-DD'.length

/** The day of a moment `YYYY-MM-DD HH:MM:SS`. */
export const dayOf = (moment: string): string => moment.slice(0, DAY_LENGTH)

/** The calendar day so many days later, or earlier; one before the year 1 is its first day, one past 9999 its last. */
export function addDays(day: string, count: number): string {
  const moment = Date.parse(`${day}T00:00:00Z`) + count * DAY_MS
  if (moment < FIRST) return '0001-01-01'
  return moment > LAST ? '9999-12-31' : new Date(moment).toISOString().slice(0, DAY_LENGTH)
}
const FIRST = Date.parse('0001-01-01T00:00:00Z')
const LAST = Date.parse('9999-12-31T00:00:00Z')

/** How many calendar days there are from one to another, both included; 0 or less where the second is before the first. */
export function daysBetween(from: string, to: string): number {
  return (Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / DAY_MS + 1
}

/** The days of a series, and a count for each. */
export class DayCounts {
  readonly date: readonly string[]
  readonly registered: number[]
  readonly deleted: number[]
  readonly #places: ReadonlyMap<string, number>

  constructor(from: string, to: string) {
    this.date = Array.from({ length: daysBetween(from, to) }, (_, i) => addDays(from, i))
    this.#places = new Map(this.date.map((day, i) => [day, i]))
    this.registered = this.date.map(() => 0)
    this.deleted = this.date.map(() => 0)
  }

  add(series: 'registered' | 'deleted', day: string, count: number): void {
    const place = this.#places.get(day)
    if (place !== undefined) this[series][place] = (this[series][place] ?? 0) + count
  }

  toJSON() {
    return { date: this.date, registered: this.registered, deleted: this.deleted }
  }
}
