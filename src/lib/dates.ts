import { lruCache } from './lru-cache.ts'

/** Every day that its month has in a leap year. PostgreSQL has no year 0 either. */
const DATE_TIME =
  /^(?!0000)\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d)|(?:0[13-9]|1[0-2])-30|(?:0[13578]|1[02])-31) (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d$/

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}

/**
 * Whether `text` is a valid date and time in exactly `YYYY-MM-DD HH:MM:SS`: years 0001 to 9999, hours 00 to 23, no leap
 * second. Does not know the zone: a time that it skips in spring is accepted.
 */
export function isCalendarDateTime(text: string): boolean {
  return DATE_TIME.test(text) && (!text.startsWith('02-29', 5) || isLeapYear(Number(text.slice(0, 4))))
}

/** Whether `text` names an IANA time zone that this system knows. Offsets (`-03:00`) are not names. */
export function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z]/.test(text)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: text })
    return true
  } catch {
    return false
  }
}

const DATE_TIME_CHARACTERS = 'YYYY-MM-DD HH:MM:SS'.length

/** By zone. A service runs in one; only tests use more. */
const formats = lruCache<Intl.DateTimeFormat>(16)

/** Returns a format whose texts are `YYYY-MM-DD HH:MM:SS`, as Swedish ones are, with fewer digits for years before 1000. */
function getFormat(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone)
  if (known !== undefined) return known
  const format = new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  formats.set(timeZone, format)
  return format
}

/**
 * Returns the local time `YYYY-MM-DD HH:MM:SS` of an IANA zone at `epochMs` (milliseconds since 1970-01-01 UTC, years 1 to 9999).
 * @throws RangeError for an unknown zone or a time that Date cannot represent
 */
export function localDateTime(epochMs: number, timeZone: string): string {
  const second = Math.floor(epochMs / 1000)
  return getFormat(timeZone)
    .format(second * 1000)
    .padStart(DATE_TIME_CHARACTERS, '0')
}

const DAY_MS = 86_400_000

/** What the clocks of a zone show at `epochMs`, taken for a time in UTC. */
function shownAt(epochMs: number, timeZone: string): number {
  return Date.parse(`${localDateTime(epochMs, timeZone).replace(' ', 'T')}Z`)
}

/**
 * Reverses `localDateTime`. For a time that the zone skips, when it sets its clocks forward, returns the time as if it had not yet
 * set them.
 * @param text a calendar date and time
 * @param repeated which time is meant if the zone shows it twice, when it sets its clocks back
 * @returns milliseconds since 1970
 */
export function toEpoch(text: string, timeZone: string, repeated: 'first' | 'last' = 'first'): number {
  const shown = Date.parse(`${text.replace(' ', 'T')}Z`)
  // The offsets of the days before and after, between which there is at most one change of the clocks.
  const [before, after] = [shown - DAY_MS, shown + DAY_MS].map((at) => shown - (shownAt(at, timeZone) - at))
  if (before === undefined || after === undefined) return shown
  if (repeated === 'last' && shownAt(after, timeZone) === shown) return after
  return shownAt(before, timeZone) !== shown && shownAt(after, timeZone) === shown ? after : before
}

/**
 * Returns a local time that is not after any that clocks of the zone show from `epochMs` on: if they will be set back and show
 * the same time once more, an earlier one.
 */
export function localLowerBound(epochMs: number, timeZone: string): string {
  const shown = localDateTime(epochMs, timeZone)
  const second = Math.floor(epochMs / 1000) * 1000
  return localDateTime(2 * second - toEpoch(shown, timeZone, 'last'), timeZone)
}

/**
 * Returns the next time, in milliseconds since 1970 and after `epochMs`, at which clocks of the zone show `HH:MM`. A time that
 * a day skips in spring comes as much later as the clocks were put forward; one that a day repeats in autumn counts once.
 */
export function nextLocalTime(epochMs: number, time: string, timeZone: string): number {
  const today = Date.parse(`${localDateTime(epochMs, timeZone).slice(0, 10)}T00:00:00Z`)
  for (let day = today; ; day += DAY_MS) {
    const found = toEpoch(`${new Date(day).toISOString().slice(0, 10)} ${time}:00`, timeZone)
    if (found > epochMs) return found
  }
}
