import { parseTimestamp, wholeYears } from '../lib/name-index/index.ts'
import type { FilteredRecord } from './filtered-record.ts'

/** Signals of a record that follow from its own dates. Dates are local texts (`YYYY-MM-DD HH:MM:SS`). */

/** How long the registry takes objections to a registration. */
export const OBJECTION_DAYS = 30
const SECOND_MS = 1_000
export const DAY_MS = 86_400 * SECOND_MS
const LAST_MS = Date.parse('9999-12-31T23:59:59Z')

type Dates = Pick<FilteredRecord, 'status' | 'date_reg' | 'date_reg_known' | 'deleted_at'>

/** Returns the whole years from the registration to the deletion, or to now while it is bought; null if the registration is unknown. */
export function getAge({ date_reg, date_reg_known, deleted_at }: Dates, localNow: string): number | null {
  if (date_reg_known === 0) return null
  return wholeYears(parseTimestamp(date_reg), parseTimestamp(deleted_at ?? localNow))
}

/** Returns when the time for an objection ends; null if it has ended, or the name is free or of unknown registration. */
export function objectionEnd(record: Dates, localNow: string): string | null {
  return canObject(record, objectionsSince(localNow)) ? later(record.date_reg, OBJECTION_DAYS * DAY_MS) : null
}

/** Returns the earliest registration to which one can still object. */
export const objectionsSince = (localNow: string): string =>
  later(localNow, SECOND_MS - OBJECTION_DAYS * DAY_MS)

export const canObject = ({ status, date_reg, date_reg_known }: Dates, since: string): boolean =>
  status === 1 && date_reg_known === 1 && date_reg >= since

/** Returns a local time plus a duration. A day has 24 hours, whatever the clocks do in between. */
export function later(dateTime: string, ms: number): string {
  const shifted = Date.parse(`${dateTime.replace(' ', 'T')}Z`) + ms
  return new Date(Math.min(shifted, LAST_MS)).toISOString().slice(0, 19).replace('T', ' ')
}
