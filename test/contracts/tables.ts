import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Database } from '../../src/storage/database/database.ts'
import { SCHEMA } from '../../src/storage/database/migrations/index.ts'
import {
  toPages,
  PAGE_ROWS,
  removeRows,
  replaceContents,
  storeRows,
  type Contents,
  type Row,
  isCopied,
  getTables,
  type Table,
} from '../../src/storage/database/tables.ts'
import { sql } from '../../src/storage/database/sql.ts'
import { openTwo, recordOn, row, type OpenDatabase, type TwoNodes } from './nodes.ts'

/** Those of the database as a place, and PostgreSQL's version of the schema. */
const OWN = ['change_log', 'leases', 'moves', 'schema_version']
const SILENT = { begin() {}, add() {}, end() {} }

const TABLES = getTables(SCHEMA)

function tableNamed(name: string): Table {
  const table = TABLES.find((one) => one.name === name)
  assert.ok(table !== undefined, name)
  return table
}

async function rowsIn(database: Database, name: string): Promise<unknown[]> {
  const rows: unknown[] = []
  for await (const page of toPages(database.scanner, database.dialect, tableNamed(name)))
    rows.push(...page.map((line): unknown => JSON.parse(line)))
  return rows
}

/** All that is copied of a database, with other rows of some tables. */
async function getContents(
  database: Database,
  others: Readonly<Record<string, readonly Row[]>>,
): Promise<Contents> {
  const tables = []
  const lines = new Map<string, string[]>()
  for (const table of TABLES.filter(isCopied)) {
    const rows = others[table.name] ?? (await rowsIn(database, table.name))
    lines.set(
      table.name,
      rows.map((one) => JSON.stringify(one)),
    )
    tables.push({ ...table, rows: rows.length })
  }
  return {
    tables,
    async *pages({ name }) {
      yield lines.get(name) ?? []
    },
  }
}

/** What holds of whole tables, for copying them. */
export function tablesContract(name: string, make: () => Promise<OpenDatabase>): void {
  describe(`${name}: whole tables`, () => {
    let nodes: TwoNodes
    let database: Database

    before(async () => {
      nodes = await openTwo(make)
      ;({ database } = nodes)
    })
    after(() => nodes.close())

    test('the tables of the schema are those of the engine, with their columns and keys', async () => {
      const names = (await database.values(tablesIn(name))).flat().map(String)
      assert.deepEqual(
        names.filter((one) => !OWN.includes(one)).toSorted(),
        TABLES.map((table) => table.name).toSorted(),
      )
      for (const table of TABLES) {
        const columns = await database.values(columnsIn(name, table.name))
        assert.deepEqual(Object.fromEntries(columns), table.columns, table.name)
        assert.deepEqual(Object.keys(table.columns).slice(0, table.key.length), table.key, table.name)
        assert.deepEqual((await database.values(keyIn(name, table.name))).flat(), table.key)
      }
      assert.equal(TABLES.at(-1)?.name, 'changes')
    })

    test('rows are stored, replaced and removed as given', async () => {
      const { dialect } = database
      const servers = tableNamed('name_servers')
      const store = (rows: readonly Row[]) =>
        database.transaction((tx) => storeRows(tx, dialect, servers, rows))
      await store([
        ['a', 1, 2, `'"\\ \u0001 \u2028 ñ 🦤`],
        ['a', 3, 8_640_000_000_000_000, null],
      ])
      await store([['a', 1, 5, '[]']])
      await database.transaction((tx) =>
        removeRows(tx, dialect, servers, [
          ['a', 3],
          ['b', 1],
        ]),
      )
      assert.deepEqual(await rowsIn(database, 'name_servers'), [['a', 1, 5, '[]']])
    })

    test('replaced contents are stored as given; ids, triggers and indexes continue', async () => {
      const text = `'"\\ \u0001 \u2028 ñ 🦤`
      const many = Array.from({ length: PAGE_ROWS + 1 }, (_, i) => [`trash ${String(i).padStart(6, '0')}`])
      const others = {
        accounts: [
          [70, text, 'domainwatch', 8_640_000_000_000_000],
          [71, 'b', 'imagestore', -1],
        ],
        keys: [],
        blob_trash: many,
        blobs: [['h', 'h.1', 'png', 'image/png', 10, 2, 3, 1, 'd', null, '#010203']],
        images: [[71, 'h', 'n', 'n', 'ip', 1, null, '["a","t"]', '{}', '0,1', 0, 10, null]],
        changes: [[500, 1, 'domain', 'added', 'viejo', 70, null, '["a"]']],
      } satisfies Readonly<Record<string, readonly Row[]>>
      await recordOn(database, [row('sobra')])
      const suspensions = () => database.all(database.dialect.suspensions(['domains', 'changes']))
      const before = await suspensions()
      const contents = await getContents(database, { domains: [], ...others })
      const count = contents.tables.reduce((sum, { rows }) => sum + rows, 0)
      assert.equal(await replaceContents(database, TABLES, contents, SILENT), count)

      for (const [table, rows] of Object.entries(others))
        assert.deepEqual(await rowsIn(database, table), rows, table)
      assert.deepEqual(await rowsIn(database, 'domains'), [])
      assert.deepEqual(await rowsIn(database, 'image_totals'), [[71, 1, 10]])
      assert.deepEqual(await rowsIn(database, 'image_tags'), [
        [71, 'a', 'h'],
        [71, 't', 'h'],
      ])
      assert.deepEqual((await suspensions()).toSorted(bySuspend), before.toSorted(bySuspend))
      assert.ok(before.length > 8)

      await recordOn(database, [row('nuevo')], { author: 70 })
      await database.transaction((tx) =>
        tx.run(sql`INSERT INTO accounts (name, service, created_at) VALUES ('d', 'imagestore', 1)`),
      )
      assert.deepEqual(await database.values(sql`SELECT id, key FROM changes WHERE id > 500 ORDER BY id`), [
        [501, 'nuevo'],
        [502, 'd'],
      ])
      assert.deepEqual(await database.values(sql`SELECT max(id) FROM accounts`), [[72]])
    })

    test('contents with too few rows, or a wrong one, replace nothing', async () => {
      const before = await rowsIn(database, 'accounts')
      const contents = await getContents(database, { accounts: [[90, 'z', 'imagestore', 1]], keys: [] })
      const tables = contents.tables.map((table) => (table.name === 'keys' ? { ...table, rows: 2 } : table))
      await assert.rejects(
        replaceContents(database, TABLES, { ...contents, tables }, SILENT),
        /0 rows of keys were read, 2 were expected/,
      )
      const wrong = await getContents(database, { accounts: [[90, 'z', 'other', 1]] })
      await assert.rejects(replaceContents(database, TABLES, wrong, SILENT))
      assert.deepEqual(await rowsIn(database, 'accounts'), before)
    })
  })
}

const bySuspend = (a: { suspend: string }, b: { suspend: string }) => (a.suspend < b.suspend ? -1 : 1)

const onPostgres = (name: string) => name.startsWith('PostgreSQL')

const tablesIn = (name: string) =>
  onPostgres(name)
    ? sql`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`
    : sql`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'`

/** Stored columns (not those that are generated, nor a transaction's number) with their types, in our words. */
const columnsIn = (name: string, table: string) =>
  onPostgres(name)
    ? sql`SELECT column_name, CASE WHEN data_type = 'text' THEN 'text' WHEN data_type IN ('integer', 'bigint') THEN 'integer' ELSE data_type END
        FROM information_schema.columns WHERE table_schema = 'public' AND table_name = ${table} AND is_generated = 'NEVER' AND data_type <> 'xid8'`
    : sql`SELECT name, lower(type) FROM pragma_table_xinfo(${table}) WHERE hidden = 0`

const keyIn = (name: string, table: string) =>
  onPostgres(name)
    ? sql`SELECT a.attname FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k(attnum, place)
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
        WHERE i.indrelid = ${table}::regclass AND i.indisprimary ORDER BY k.place`
    : sql`SELECT name FROM pragma_table_info(${table}) WHERE pk > 0 ORDER BY pk`
