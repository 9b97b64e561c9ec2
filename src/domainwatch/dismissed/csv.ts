import { csvField } from '../export.ts'
import type { DismissedRow } from './queries.ts'

/** Columns of `catalejo dismissed list`. `deleted_at` is the last deletion, also of a name that was bought again. */
export const DISMISSED_FIELDS = [
  'name',
  'dismissed_by',
  'dismissed_at',
  'status',
  'date_reg',
  'date_reg_known',
  'deleted_at',
  'deleted_after',
  'past_drops',
] as const

export function dismissedLine({ released_at, dismissed_at, ...row }: DismissedRow): string {
  const values = { ...row, deleted_at: released_at, dismissed_at: new Date(dismissed_at).toISOString() }
  return toLine(DISMISSED_FIELDS.map((field) => csvField(values[field])))
}

export const DISMISSED_HEAD = toLine(DISMISSED_FIELDS)

function toLine(fields: readonly string[]): string {
  return `${fields.join(',')}\r\n`
}
