import { isOneOf, type Dialect } from '../storage/database/dialect.ts'
import { limit, raw, sql, type Sql } from '../storage/database/sql.ts'
import type { ValueType } from '../storage/database/batch.ts'

/** The fields that `expect` of `update` may name: all are 0 or 1, but `date_mod`. */
export const EXPECTABLE_FIELDS = ['status', 'reserved', 'revision', 'discarded', 'seen', 'date_mod'] as const

export type ExpectableField = (typeof EXPECTABLE_FIELDS)[number]

/** The values that a stored record must still have. */
export type Expected = Readonly<Partial<Record<ExpectableField, string | number>>>

const typeOf = (field: ExpectableField): ValueType => (field === 'date_mod' ? 'text' : 'integer')

/** Types of the values of `expectedRow`. */
const EXPECTED_TYPES: readonly ValueType[] = ['integer', 'text', ...EXPECTABLE_FIELDS.map(typeOf)]

/** The position of a record in its batch and its name, then the values, null for those that may be any. */
export function expectedRow(index: number, name: string, expected: Expected): (string | number | null)[] {
  return [index, name, ...EXPECTABLE_FIELDS.map((field) => expected[field] ?? null)]
}

/** What a record has now. */
const PRESENT: Readonly<Record<ExpectableField, Sql>> = {
  status: raw('domains.status'),
  reserved: raw('domains.reserved'),
  revision: raw('domains.revision'),
  discarded: raw('CASE WHEN domains.discarded_at IS NULL THEN 0 ELSE 1 END'),
  seen: raw('CASE WHEN domains.seen_at IS NULL THEN 0 ELSE 1 END'),
  date_mod: raw('domains.date_mod'),
}

/** Locks the records whose names are first in these rows, in the order in which an update of them locks. */
export const lockRecords = (dialect: Dialect, rows: string) => sql<{ count: number }>`
  SELECT count(*) AS count FROM (
    SELECT name FROM domains WHERE ${isOneOf(dialect, sql`name`, rows)} ORDER BY name ${dialect.forUpdate}
  ) AS locked`

export type Difference = {
  readonly place: number
  readonly found: string
} & Readonly<Record<ExpectableField, 0 | 1>>

/**
 * Selects records that differ from what is expected of them, in the order of the batch: 1 for each field that does.
 * @param expected a JSON array of rows of `expectedRow`
 */
export function differences(dialect: Dialect, expected: string, count: number) {
  const given = dialect.jsonRows(expected, EXPECTED_TYPES)
  const columns = raw(EXPECTABLE_FIELDS.map((field) => `wanted_${field}`).join(', '))
  const differing = (field: ExpectableField) => sql`${raw(`wanted_${field}`)} <> ${PRESENT[field]}`
  const [first, ...others] = EXPECTABLE_FIELDS
  const any = others.reduce((all, field) => sql`${all} OR ${differing(field)}`, differing(first))
  const flag = (field: ExpectableField) =>
    sql`CASE WHEN ${differing(field)} THEN 1 ELSE 0 END AS ${raw(field)}`
  const flags = others.reduce((all, field) => sql`${all}, ${flag(field)}`, flag(first))
  return sql<Difference>`
    WITH given (place, found, ${columns}) AS (SELECT ${given.columns} FROM ${given.table})
    SELECT place, found, ${flags} FROM given CROSS JOIN domains
    WHERE name = found AND (${any}) ORDER BY place ${limit(count)}`
}
