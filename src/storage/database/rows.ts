import type { Reader, Transaction } from './database.ts'
import type { Dialect } from './dialect.ts'
import { empty, join, limit, raw, sql, type SqlValue } from './sql.ts'
import type { Table } from './tables.ts'

/** A row's values, in the order of the table's columns. */
export type Row = readonly SqlValue[]

const names = (columns: readonly string[]) => raw(columns.join(', '))

/** A page of rows by key, after the row with this key, or from the first on. */
export const pageOf = (
  table: Table,
  after: Row | undefined,
  count: number,
  columns = Object.keys(table.columns),
) => sql`
  SELECT ${names(columns)} FROM ${raw(table.name)}
  ${after === undefined ? empty : sql`WHERE (${names(table.key)}) > (${join(after)})`}
  ORDER BY ${names(table.key)} ${limit(count)}`

const countOf = (table: Table) => sql<{ count: number }>`SELECT count(*) AS count FROM ${raw(table.name)}`

export async function countRows(reader: Reader, table: Table): Promise<number> {
  return (await reader.first(countOf(table)))?.count ?? 0
}

export async function hasRows(reader: Reader, table: Table): Promise<boolean> {
  return (await reader.values(pageOf(table, undefined, 1, [...table.key]))).length > 0
}

/** Stores rows as they are; an existing row with the same key is replaced. Keys must not repeat. */
export async function storeRows(tx: Transaction, dialect: Dialect, table: Table, rows: readonly Row[]) {
  const columns = Object.keys(table.columns)
  const others = columns.slice(table.key.length)
  const given = dialect.jsonRows(JSON.stringify(rows), Object.values(table.columns))
  const change =
    others.length === 0
      ? raw('DO NOTHING')
      : raw(`DO UPDATE SET ${others.map((name) => `${name} = excluded.${name}`).join(', ')}`)
  // Without a condition SQLite would parse ON as the beginning of a join condition.
  await tx.run(sql`
    INSERT INTO ${raw(table.name)} (${names(columns)}) ${dialect.givenIds}
    SELECT ${given.columns} FROM ${given.table} WHERE 1 = 1
    ON CONFLICT (${names(table.key)}) ${change}`)
}

/** @param keys values of the key's columns */
export async function removeRows(tx: Transaction, dialect: Dialect, table: Table, keys: readonly Row[]) {
  const types = Object.values(table.columns).slice(0, table.key.length)
  const given = dialect.jsonRows(JSON.stringify(keys), types)
  await tx.run(sql`
    DELETE FROM ${raw(table.name)}
    WHERE (${names(table.key)}) IN (SELECT ${given.columns} FROM ${given.table})`)
}

/** Advances the sequence of generated ids past the existing ones. */
export async function continueIds(tx: Transaction, dialect: Dialect, table: Table): Promise<void> {
  if (table.identity === undefined) return
  const query = dialect.continueIds(table.name, table.identity)
  if (query !== undefined) await tx.all(query)
}
