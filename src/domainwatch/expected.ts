import type { ValueType } from '../storage/database/batch.ts'

/** The fields that `expect` of `update` may name: all are 0 or 1, but `date_mod`. */
export const EXPECTABLE_FIELDS = ['status', 'reserved', 'revision', 'discarded', 'seen', 'date_mod'] as const

export type ExpectableField = (typeof EXPECTABLE_FIELDS)[number]

/** The values that a stored record must still have. */
export type Expected = Readonly<Partial<Record<ExpectableField, string | number>>>

const typeOf = (field: ExpectableField): ValueType => (field === 'date_mod' ? 'text' : 'integer')

/** Types of the values of `expectedRow`. */
export const EXPECTED_TYPES: readonly ValueType[] = ['integer', 'text', ...EXPECTABLE_FIELDS.map(typeOf)]

/** The position of a record in its batch and its name, then the values, null for those that may be any. */
export function expectedRow(index: number, name: string, expected: Expected): (string | number | null)[] {
  return [index, name, ...EXPECTABLE_FIELDS.map((field) => expected[field] ?? null)]
}
