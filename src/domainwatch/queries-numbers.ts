import { defineBatch, encodeJson } from '../storage/database/batch.ts'
import { isOneOf, type Dialect, lockInstance } from '../storage/database/dialect.ts'
import { sql } from '../storage/database/sql.ts'
import { type Table, removeRows, storeRows } from '../storage/database/tables.ts'
import type { Database, Reader, Transaction } from '../storage/database/database.ts'
import { ListFault } from '../lib/errors.ts'
import type { RowBatch, Effect } from './import/writer.ts'
import { formatNumbers, MAX_NUMBER_KEYS, parseNumbers, type Numbers } from './numbers.ts'

const NUMBERS = {
  name: 'numbers',
  key: ['name'],
  columns: { name: 'text', numbers: 'text' },
} as const satisfies Table

const numbersNamed = (dialect: Dialect, names: readonly string[]) => sql<{
  name: string
  numbers: string
}>`
  SELECT name, numbers FROM numbers WHERE ${isOneOf(dialect, sql`name`, names)}`

const numberKeys = () => sql<{ number_keys: string | null }>`SELECT number_keys FROM instance`

/** Selects one of the names that have a number of a key. */
const anyOfKey = (key: string) => sql<{ name: string }>`
  SELECT name FROM numbers WHERE ' ' || numbers LIKE ${`% ${key}=%`} LIMIT 1`

const setNumberKeys = (keys: string) => sql`UPDATE instance SET number_keys = ${keys}`

/** Gives recorded names a copy of their numbers. */
const copyNumbers = defineBatch({
  table: 'domains',
  key: 'name',
  constants: {},
  elements: { name: 'text', numbers: 'text' },
  update: ({ numbers }) => ({ numbers }),
})

/** Null removes the number. */
type NumberRow = readonly [name: string, key: string, number: number | null]

/** Reads the keys of all numbers; those that no number has any more, only while there is room for others. */
export async function readNumberKeys(reader: Reader): Promise<Set<string>> {
  const keys = await readKeys(reader)
  return keys.size < MAX_NUMBER_KEYS ? keys : usedKeys(reader, keys)
}

async function readKeys(reader: Reader): Promise<Set<string>> {
  const { number_keys: keys } = (await reader.first(numberKeys())) ?? {}
  return new Set(keys?.split(' '))
}

async function usedKeys(reader: Reader, keys: ReadonlySet<string>): Promise<Set<string>> {
  const used = new Set<string>()
  for (const key of keys) if ((await reader.first(anyOfKey(key))) !== undefined) used.add(key)
  return used
}

/**
 * Stores and removes numbers of names, recorded or not. Other numbers of the names stay.
 * @throws ListFault if another import has added keys meanwhile, and there are too many
 */
export async function storeNumbers(
  { dialect }: Database,
  tx: Transaction,
  { json }: RowBatch,
): Promise<Effect> {
  const rows: readonly NumberRow[] = JSON.parse(json)
  await tx.all(lockInstance(dialect))
  await addKeys(tx, rows)
  const byName = Map.groupBy(rows, ([name]) => name)
  const stored = await tx.all(numbersNamed(dialect, [...byName.keys()]))
  const known = new Map(stored.map(({ name, numbers }) => [name, parseNumbers(numbers)]))
  let [added, changed] = [0, 0]
  const written: [name: string, numbers: string | null][] = []
  for (const [name, given] of byName) {
    const before: Numbers = known.get(name) ?? new Map()
    const news = given.filter(([, key, number]) => (before.get(key) ?? null) !== number)
    if (news.length === 0) continue
    added += news.filter(([, key]) => !before.has(key)).length
    changed += news.length
    const after = new Map(before)
    for (const [, key, number] of news)
      if (number === null) after.delete(key)
      else after.set(key, number)
    written.push([name, formatNumbers(after)])
  }
  if (written.length === 0) return { added, changed }
  const hasNone = ([, numbers]: (typeof written)[number]) => numbers === null
  await storeRows(
    tx,
    dialect,
    NUMBERS,
    written.filter((row) => !hasNone(row)),
  )
  await removeRows(
    tx,
    dialect,
    NUMBERS,
    written.filter(hasNone).map(([name]) => [name]),
  )
  await tx.runMany(copyNumbers, [], encodeJson(written))
  return { added, changed }
}

async function addKeys(tx: Transaction, rows: readonly NumberRow[]): Promise<void> {
  const known = await readKeys(tx)
  const given = rows.flatMap(([, key, number]) => (number === null ? [] : key))
  if (given.every((key) => known.has(key))) return
  const isFull = new Set([...known, ...given]).size > MAX_NUMBER_KEYS
  const all = new Set([...(isFull ? await usedKeys(tx, known) : known), ...given])
  if (all.size > MAX_NUMBER_KEYS) throw new ListFault('Otra importación agregó claves: repita esta')
  await tx.run(setNumberKeys([...all].toSorted().join(' ')))
}
