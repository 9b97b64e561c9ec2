import { DatabaseSync } from 'node:sqlite'
import type { Progress } from '../../lib/concurrency.ts'
import type { Columns, ValueType } from './batch.ts'
import type { Database, Reader, Transaction } from './database.ts'
import type { Dialect } from './dialect.ts'
import { migrations } from './migrations/index.ts'
import { empty, join, limit, raw, sql, type SqlValue } from './sql.ts'

export interface Table {
  readonly name: string
  /** The primary key. Its text columns sort by code point. */
  readonly key: readonly string[]
  /** The stored columns, without generated ones. The columns of the key come first, in its order. */
  readonly columns: Columns
}

/** The history of records. Triggers add a row for every write to other tables, so it is filled after all of them. */
const CHANGES = 'changes'

/** Tables of the database as a place: a copy keeps its own. */
const OWN = ['change_log', 'leases', 'moves']

/** Tables that are not copied: they follow from others, or hold what is true of one place at one moment. */
const NOT_COPIED = [
  // Triggers on images maintain them.
  'image_dhashes',
  'image_totals',
  'image_usage',
  'image_tags',
  // Version 0.1 kept the names to look up again, and its dictionary, there.
  'dns_checks',
  'name_splits',
  // Validators describe what this database has imported.
  'feed_states',
  'key_uses',
  'key_rates',
  'failed_keys',
  'claims',
  'backup_runs',
  // Their files stay in the place.
  'jobs',
  'ticket_uploads',
]

export const isCopied = ({ name }: Table): boolean => !NOT_COPIED.includes(name)

/**
 * Returns the tables of a schema, which are those of the migrations up to its version: nothing else lists them. Each table
 * comes after those that its rows refer to.
 */
export function getTables(schema: number): Table[] {
  using db = new DatabaseSync(':memory:')
  for (const { version, sqlite } of migrations) if (version <= schema) db.exec(sqlite)
  const names = db
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'`)
    .all()
    .map(({ name }) => String(name))
    .filter((name) => !OWN.includes(name))
  const parents = db.prepare('SELECT "table" AS name FROM pragma_foreign_key_list(?)')
  const ordered: string[] = []
  function add(name: string): void {
    if (ordered.includes(name)) return
    for (const parent of parents.all(name)) add(String(parent['name']))
    ordered.push(name)
  }
  for (const name of names) if (name !== CHANGES) add(name)
  return [...ordered, CHANGES].map((name) => tableIn(db, name))
}

function tableIn(db: DatabaseSync, name: string): Table {
  const rows = db.prepare('SELECT name, type, pk FROM pragma_table_xinfo(?) WHERE hidden = 0').all(name)
  const key = rows
    .filter(({ pk }) => Number(pk) > 0)
    .toSorted((a, b) => Number(a['pk']) - Number(b['pk']))
    .map((row) => String(row['name']))
  const typeOf = new Map(rows.map((row) => [String(row['name']), valueType(row['type'])]))
  const columns = [...new Set([...key, ...typeOf.keys()])]
  return {
    name,
    key,
    columns: Object.fromEntries(columns.map((column) => [column, typeOf.get(column) ?? 'text'])),
  }
}

function valueType(type: unknown): ValueType {
  const name = String(type).toLowerCase()
  if (name !== 'text' && name !== 'integer') throw new Error(`columns of type ${name} cannot be copied`)
  return name
}

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

/** Rows per page, as a rule a fraction of a megabyte. */
export const PAGE_ROWS = 2_000

/**
 * Tables that may have millions of rows. Filling them one row after another through their triggers and indexes takes five
 * times as long. No trigger of theirs may maintain a table that is not copied.
 */
const LARGE = ['domains', CHANGES]

/** A page of rows by key, after the row with this key, or from the first on: the values of the key, and the row as JSON. */
const pageAfter = (
  dialect: Dialect,
  { name, key, columns }: Table,
  after: readonly SqlValue[] | undefined,
) => sql`
  SELECT ${names(key)}, ${dialect.jsonArray(Object.keys(columns).map((column) => raw(column)))}
  FROM ${raw(name)} ${after === undefined ? empty : sql`WHERE (${names(key)}) > (${join(after)})`}
  ORDER BY ${names(key)} ${limit(PAGE_ROWS)}`

/** Yields all rows of a table in key order, in pages: each is a JSON array of its values, in the order of the columns. */
export async function* toPages(
  reader: Reader,
  dialect: Dialect,
  table: Table,
): AsyncGenerator<readonly string[], void> {
  const read = (after?: readonly SqlValue[]) => {
    const page = reader.values(pageAfter(dialect, table, after))
    // Read ahead: if the consumer stops, a failure must not be an unhandled rejection.
    page.catch(() => {})
    return page
  }
  let next = read()
  for (;;) {
    const page = await next
    const last = page.at(-1)
    if (last === undefined) return
    const isLast = page.length < PAGE_ROWS
    if (!isLast) next = read(last.slice(0, -1))
    yield page.map((row) => String(row.at(-1)))
    if (isLast) return
  }
}

export interface Contents {
  /** The tables to fill, each after those that its rows refer to, with the number of their rows. */
  readonly tables: readonly (Table & { readonly rows: number })[]
  /** Yields the rows of a table in pages. */
  readonly pages: (table: Table) => AsyncIterable<readonly string[]>
}

/**
 * Replaces the contents of a database that no service uses, in one transaction.
 * @param emptied all tables that lose their rows, each after those that its rows refer to
 * @returns the number of rows stored
 * @throws if a table has another number of rows than expected
 */
export function replaceContents(
  database: Database,
  emptied: readonly Table[],
  contents: Contents,
  progress: Progress,
): Promise<number> {
  const { dialect } = database
  const replace = async (tx: Transaction) => {
    const suspended = await tx.all(dialect.suspensions(LARGE))
    for (const { suspend } of suspended) await tx.run(sql`${raw(suspend)}`)
    for (const { name } of emptied.toReversed()) await tx.run(deleteAll(name))
    let total = 0
    for (const table of contents.tables) {
      progress.begin(table.name, table.rows)
      // Triggers have recorded here what was just written to the other tables.
      if (table.name === CHANGES) await tx.run(deleteAll(CHANGES))
      const stored = await fill(tx, table, contents.pages(table), progress)
      if (stored !== table.rows)
        throw new Error(`${stored} rows of ${table.name} were read, ${table.rows} were expected`)
      total += stored
      await continueIds(tx, dialect, table)
    }
    progress.begin('indexes', suspended.length)
    for (const { resume } of suspended) {
      await tx.run(sql`${raw(resume)}`)
      progress.add(1)
    }
    return total
  }
  return database.transaction(replace, undefined, { purpose: 'fill' })
}

const deleteAll = (table: string) => sql`DELETE FROM ${raw(table)}`

async function fill(
  tx: Transaction,
  { name, columns }: Table,
  pages: AsyncIterable<readonly string[]>,
  progress: Progress,
): Promise<number> {
  let stored = 0
  for await (const page of pages) {
    stored += await tx.insertMany(name, columns, Buffer.from(`[${page.join(',')}]`))
    progress.add(page.length)
  }
  return stored
}

/** Advances the sequence of generated ids past the existing ones. */
async function continueIds(tx: Transaction, dialect: Dialect, { name, key, columns }: Table): Promise<void> {
  const [id = ''] = key
  if (key.length > 1 || columns[id] !== 'integer') return
  const query = dialect.continueIds(name, id)
  if (query !== undefined) await tx.all(query)
}
