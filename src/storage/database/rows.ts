import type { Reader, Transaction } from './database.ts'
import type { Dialect } from './dialect.ts'
import { raw, sql, type SqlValue } from './sql.ts'
import type { Table } from './tables.ts'

/** A row's values, in the order of the table's columns. */
export type Row = readonly SqlValue[]

const names = (columns: readonly string[]) => raw(columns.join(', '))

const countOf = (table: string) => sql<{ count: number }>`SELECT count(*) AS count FROM ${raw(table)}`

export async function countRows(reader: Reader, table: string): Promise<number> {
  return (await reader.first(countOf(table)))?.count ?? 0
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
    INSERT INTO ${raw(table.name)} (${names(columns)})
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
