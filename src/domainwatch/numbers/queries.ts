import { defineBatch } from '../../storage/database/batch.ts'
import { isOneOf, type Dialect } from '../../storage/database/dialect.ts'
import { sql } from '../../storage/database/sql.ts'
import type { Table } from '../../storage/database/tables.ts'

export const NUMBERS = {
  name: 'numbers',
  key: ['name'],
  columns: { name: 'text', numbers: 'text' },
} as const satisfies Table

export const numbersNamed = (dialect: Dialect, names: readonly string[]) => sql<{
  name: string
  numbers: string
}>`
  SELECT name, numbers FROM numbers WHERE ${isOneOf(dialect, sql`name`, names)}`

export const numberKeys = () => sql<{ number_keys: string | null }>`SELECT number_keys FROM instance`

/** Selects one of the names that have a number of a key. */
export const anyOfKey = (key: string) => sql<{ name: string }>`
  SELECT name FROM numbers WHERE ' ' || numbers LIKE ${`% ${key}=%`} LIMIT 1`

export const setNumberKeys = (keys: string) => sql`UPDATE instance SET number_keys = ${keys}`

/** Gives recorded names a copy of their numbers. */
export const copyNumbers = defineBatch({
  table: 'domains',
  key: 'name',
  constants: {},
  elements: { name: 'text', numbers: 'text' },
  update: ({ numbers }) => ({ numbers }),
})
