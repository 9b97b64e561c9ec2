import { setClause, type BatchStatement } from '../batch.ts'
import type { SqlValue } from '../sql.ts'
import type { Connection } from './connection.ts'

/** Rows of one INSERT. Running a statement costs as much as storing a row, so new rows share one; larger groups gain little. */
const GROUP = 200

/** The texts of a batch's statements. Their parameters are the constants, then the values of one row after the other. */
export interface BatchTexts {
  /** Position of the key in a row. */
  readonly key: number
  /** Adds the new ones of `GROUP` rows and returns their keys. Undefined if the batch only updates. */
  readonly addGroup: string | undefined
  /** Stores one row, new or existing. */
  readonly store: string
}

export function batchTexts(batch: BatchStatement): BatchTexts {
  const { table, key, constants, elements } = batch
  const names = Object.keys(elements)
  const first = Object.keys(constants).length
  const constantsAt = Object.fromEntries(Object.keys(constants).map((name, i) => [name, `?${i + 1}`]))
  const at = { ...constantsAt, ...Object.fromEntries(names.map((name, i) => [name, `?${first + i + 1}`])) }
  const set = setClause(batch.update(at))
  const when = batch.when?.(at)
  const place = names.indexOf(key)
  const inserted = batch.insert?.(at)
  if (inserted === undefined || batch.insert === undefined) {
    const condition = when === undefined ? '' : ` AND (${when})`
    const store = `UPDATE ${table} SET ${set} WHERE ${table}.${key} = ${at[key]}${condition}`
    return { key: place, addGroup: undefined, store }
  }
  const into = `INSERT INTO ${table} (${Object.keys(inserted).join(', ')})`
  const inGroup = { ...constantsAt, ...Object.fromEntries(names.map((name, i) => [name, `column${i + 1}`])) }
  const rows = Array.from({ length: GROUP }, (_, row) => {
    // Only the first is numbered: node:sqlite searches the list of numbered parameters for each value that it binds.
    const values = names.map((_name, i) => (row === 0 && i === 0 ? `?${first + 1}` : '?'))
    return `(${values.join(',')})`
  })
  return {
    key: place,
    addGroup: `${into} SELECT ${Object.values(batch.insert(inGroup)).join(', ')} FROM (VALUES ${rows.join(',')})
      WHERE true ON CONFLICT (${key}) DO NOTHING RETURNING ${key}`,
    store: `${into} VALUES (${Object.values(inserted).join(', ')})
      ON CONFLICT (${key}) DO UPDATE SET ${set} ${when === undefined ? '' : `WHERE ${when}`}`,
  }
}

/**
 * Stores rows in the order of their keys, so that pages are visited one after the other.
 * @returns the number of rows added or changed
 */
export function runMany(
  connection: Connection,
  { key, addGroup, store }: BatchTexts,
  constants: readonly SqlValue[],
  rows: readonly (readonly SqlValue[])[],
): number {
  const sorted = rows.toSorted((a, b) => (String(a[key]) < String(b[key]) ? -1 : 1))
  let changes = 0
  const storeEach = (some: typeof rows) => {
    for (const row of some) changes += connection.run(store, [...constants, ...row])
  }
  for (let from = 0; from < sorted.length; from += GROUP) {
    const group = sorted.slice(from, from + GROUP)
    if (addGroup === undefined || group.length < GROUP) {
      storeEach(group)
      continue
    }
    const added = new Set(connection.values(addGroup, [...constants, ...group.flat()]).map(([each]) => each))
    changes += added.size
    if (added.size < GROUP) storeEach(group.filter((row) => !added.has(row[key] ?? null)))
  }
  return changes
}
