import type { Filters } from './filters.ts'

/** The days of one bar, inclusive: `YYYY-MM-DD`. */
export interface Bucket {
  readonly from: string
  readonly to: string
  readonly registered: number
  readonly deleted: number
}

/** Maximum bars that are distinguishable on a narrow screen. */
const MAX_BARS = 122
const DAY_MS = 86_400_000
/** Days that charts show at least. */
export const DAYS = 90

interface Series {
  readonly date: readonly string[]
  readonly registered: readonly number[]
  readonly deleted: readonly number[]
}

/** Leaves out the days before the first and after the last on which something was; of none, all but the last 90. */
export function trimmed<T extends Series>({ date, registered, deleted }: T) {
  const isFull = (_: string, i: number) => (registered[i] ?? 0) + (deleted[i] ?? 0) > 0
  const end = date.findLastIndex(isFull) + 1 || date.length
  const first = date.findIndex(isFull)
  const part = <V>(values: readonly V[]) => values.slice(first < 0 ? -DAYS : first, end)
  return { date: part(date), registered: part(registered), deleted: part(deleted) }
}

/** Groups days into at most `MAX_BARS` bars. */
export function toBuckets({ date, registered, deleted }: Series): Bucket[] {
  const size = Math.max(1, Math.ceil(date.length / MAX_BARS))
  const sum = (values: readonly number[], start: number) =>
    values.slice(start, start + size).reduce((total, n) => total + n, 0)
  const buckets: Bucket[] = []
  for (let start = 0; start < date.length; start += size) {
    const from = date[start] ?? ''
    const to = date[Math.min(start + size, date.length) - 1] ?? from
    buckets.push({ from, to, registered: sum(registered, start), deleted: sum(deleted, start) })
  }
  return buckets
}

/** Returns the day of a filter's date and time. */
export const dayOf = (moment: string): string => moment.slice(0, 10)

/**
 * Returns the days to show if `shown` does not contain the filtered days: these, with the same number around them
 * for comparison. Undefined if it does, or the filter is not valid.
 */
export function spanAround(
  filters: Filters,
  shown: { readonly from: string; readonly to: string },
): { readonly from: string; readonly to: string } | undefined {
  const to = dayOf(filters['to'] ?? shown.to)
  const from = dayOf(filters['from'] ?? addDays(to, 1 - DAYS))
  if (from >= shown.from && to <= shown.to) return undefined
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
  if (!(days >= 1)) return undefined
  const around = Math.ceil(Math.max(DAYS - days, days / 2) / 2)
  const end = addDays(to, around)
  return { from: addDays(from, -around), to: end > shown.to && to <= shown.to ? shown.to : end }
}

export function addDays(day: string, days: number): string {
  const at = Date.parse(day) + days * DAY_MS
  return Number.isNaN(at) ? day : new Date(at).toISOString().slice(0, 10)
}

/** Returns the first and last bar between two days, inclusive; undefined if there is none. */
export function selectedSpan(
  buckets: readonly Bucket[],
  filters: Filters,
): readonly [first: number, last: number] | undefined {
  if (filters['from'] === undefined && filters['to'] === undefined) return undefined
  const [from, to] = [dayOf(filters['from'] ?? ''), dayOf(filters['to'] ?? '9999')]
  const first = buckets.findIndex((one) => one.to >= from)
  const last = buckets.findLastIndex((one) => one.from <= to)
  return first < 0 || last < first ? undefined : [first, last]
}

export interface Day {
  /** `2026-01-12`, in UTC as the service counts. */
  readonly day: string
  readonly images: number
  readonly bytes: number
}

/**
 * Returns the last days, oldest first, including those without uploads.
 * @param known days with uploads
 * @param now milliseconds since 1970
 */
export function lastDays(known: readonly Day[], now: number): Day[] {
  const found = new Map(known.map((one) => [one.day, one]))
  return Array.from({ length: DAYS }, (_, i) => {
    const day = new Date(now - (DAYS - 1 - i) * DAY_MS).toISOString().slice(0, 10)
    return found.get(day) ?? { day, images: 0, bytes: 0 }
  })
}
