import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Database } from '../../src/storage/database/database.ts'
import { continueIds, pageOf, removeRows, storeRows, type Row } from '../../src/storage/database/rows.ts'
import { sql } from '../../src/storage/database/sql.ts'
import { copiedTables } from '../../src/storage/database/tables.ts'
import { openTwo, type OpenDatabase, type TwoNodes } from './nodes.ts'

/** Tables that are not copied: their rows describe one place or one moment and would be wrong elsewhere. */
const NOT_COPIED = [
  // Follows from the records and watches.
  'dns_checks',
  // Validators describe what this database has imported.
  'feed_states',
  'key_uses',
  'key_rates',
  'change_log',
  'failed_keys',
  'leases',
  'claims',
  'moves',
  'name_splits',
  // Triggers create them from the images.
  'image_dhashes',
  'image_totals',
  'image_usage',
  // PostgreSQL's version of the schema.
  'schema_version',
]

/** What holds of the tables as rows, for moving them. */
export function tablesContract(name: string, make: () => Promise<OpenDatabase>): void {
  describe(`${name}: tables as rows`, () => {
    let nodes: TwoNodes
    let database: Database

    before(async () => {
      nodes = await openTwo(make)
      ;({ database } = nodes)
    })
    after(() => nodes.close())

    test('every table is copied with all of its columns and its key, or deliberately not copied', async () => {
      const names = (await database.values(tablesOf(name))).flat().map(String)
      const listed = [...copiedTables.map((table) => table.name), ...NOT_COPIED]
      // PostgreSQL's alone.
      if (!names.includes('schema_version')) names.push('schema_version')
      assert.deepEqual(
        names.toSorted(),
        listed.toSorted(),
        'src/storage/database/tables.ts or NOT_COPIED lists every table',
      )
      for (const table of copiedTables) {
        const columns = await database.values(columnsOf(name, table.name))
        assert.deepEqual(Object.fromEntries(columns), table.columns, table.name)
        assert.deepEqual(Object.keys(table.columns).slice(0, table.key.length), table.key, table.name)
        assert.deepEqual((await database.values(keyOf(name, table.name))).flat(), table.key)
      }
    })

    test('rows are stored, replaced and removed as given; ids continue after them', async () => {
      const [accounts, images] = ['accounts', 'images'].map((name) =>
        copiedTables.find((table) => table.name === name),
      )
      assert.ok(accounts !== undefined && images !== undefined)
      const { dialect } = database
      const text = `'"\\ \u0001 \u2028 ñ 🦤`
      const rows: Row[] = [
        [70, text, 'imagestore', 8_640_000_000_000_000],
        [71, 'b', 'domainwatch', -1],
      ]
      const read = () => database.values(pageOf(accounts, [69], 10))
      await database.transaction((tx) => storeRows(tx, dialect, accounts, rows))
      assert.deepEqual(await read(), rows)
      await database.transaction(async (tx) => {
        await storeRows(tx, dialect, accounts, [[71, 'c', 'domainwatch', 5]])
        await continueIds(tx, dialect, accounts)
        await tx.run(sql`INSERT INTO accounts (name, service, created_at) VALUES ('d', 'imagestore', 1)`)
      })
      assert.deepEqual(await read(), [rows[0], [71, 'c', 'domainwatch', 5], [72, 'd', 'imagestore', 1]])
      await database.transaction((tx) => removeRows(tx, dialect, accounts, [[71], [70], [999]]))
      assert.deepEqual(await read(), [[72, 'd', 'imagestore', 1]])
      assert.deepEqual(await database.values(pageOf(accounts, [69], 1, ['id'])), [[72]])

      const blobs = copiedTables.find((table) => table.name === 'blobs')
      assert.ok(blobs !== undefined)
      await database.transaction(async (tx) => {
        for (const hash of ['h1', 'h2'])
          await storeRows(tx, dialect, blobs, [[hash, hash, 'f', 'm', 1, 1, 1, 1, 'd']])
        await storeRows(
          tx,
          dialect,
          images,
          ['h1', 'h2'].map((hash) => [72, hash, 'n', 'n', 'ip', 1]),
        )
        await removeRows(tx, dialect, images, [
          [72, 'h1'],
          [71, 'h2'],
        ])
      })
      assert.deepEqual(await database.values(pageOf(images, [72, 'h0'], 10, ['account_id', 'hash'])), [
        [72, 'h2'],
      ])
      assert.deepEqual(await database.values(pageOf(images, [72, 'h2'], 10, ['account_id', 'hash'])), [])
    })
  })
}

const onPostgres = (name: string) => name.startsWith('PostgreSQL')

const tablesOf = (name: string) =>
  onPostgres(name)
    ? sql`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`
    : sql`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'`

/** Stored columns (not those that are generated, nor a transaction's number) with their types, in our words. */
const columnsOf = (name: string, table: string) =>
  onPostgres(name)
    ? sql`SELECT column_name, CASE WHEN data_type = 'text' THEN 'text' WHEN data_type IN ('integer', 'bigint') THEN 'integer' ELSE data_type END
        FROM information_schema.columns WHERE table_schema = 'public' AND table_name = ${table} AND is_generated = 'NEVER' AND data_type <> 'xid8'`
    : sql`SELECT name, lower(type) FROM pragma_table_xinfo(${table}) WHERE hidden = 0`

const keyOf = (name: string, table: string) =>
  onPostgres(name)
    ? sql`SELECT a.attname FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k(attnum, place)
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
        WHERE i.indrelid = ${table}::regclass AND i.indisprimary ORDER BY k.place`
    : sql`SELECT name FROM pragma_table_info(${table}) WHERE pk > 0 ORDER BY pk`
