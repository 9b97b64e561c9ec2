const DAY_MS = 24 * 60 * 60 * 1000
const FIRST = Date.parse('0001-01-01T00:00:00Z')
const LAST = Date.parse('9999-12-31T00:00:00Z')
const DAY_LENGTH = 'YYYY-MM-DD'.length

/** The day of a timestamp `YYYY-MM-DD HH:MM:SS`. */
export const dayOf = (timestamp: string): string => timestamp.slice(0, DAY_LENGTH)

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
