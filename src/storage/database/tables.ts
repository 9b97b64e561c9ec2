import { DatabaseSync } from 'node:sqlite'
import type { Columns, ValueType } from './batch.ts'
import { migrations } from './migrations/index.ts'

export interface Table {
  readonly name: string
  /** The primary key. Its text columns sort by code point. */
  readonly key: readonly string[]
  /** The stored columns, without generated ones. The columns of the key come first, in its order. */
  readonly columns: Columns
}

/** The history of records. Triggers add a row for every write to other tables, so it is filled after all of them. */
export const CHANGES = 'changes'

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
