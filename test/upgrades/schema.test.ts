import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { openPostgres } from '../../src/storage/database/postgres/open.ts'
import { openSqlite } from '../../src/storage/database/sqlite/open.ts'
import { newDatabase, noPostgres } from '../support/engine.ts'
import { temporaryFolder } from '../support/folder.ts'
import { runStatement } from '../support/postgres.ts'
import { NEWEST, oldPostgres, oldSqlite } from './released.ts'

const schema = Number(NEWEST)

/** Without comments, and with normalized white space. */
const normalized = (text: unknown) =>
  String(text)
    .replaceAll(/--.*/g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([(),;]) ?/g, '$1')
    .trim()

function sqliteSchema(path: string): string[] {
  using db = new DatabaseSync(path, { readOnly: true })
  const rows = db.prepare(`SELECT type, name, tbl_name, sql FROM sqlite_schema`).all()
  return rows
    .map(({ type, name, tbl_name, sql }) => [type, name, tbl_name, normalized(sql)].join(' '))
    .toSorted()
}

/** Without the indexes that each start of version 0.1 created besides the schema. */
const POSTGRES_SCHEMA = `
  SELECT concat_ws(' ', 'column', c.relname, attnum, attname, format_type(atttypid, atttypmod), attnotnull, attidentity,
    attgenerated, attcollation::regcollation, pg_get_expr(adbin, adrelid)) AS item
  FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid
  LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
  WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0
  UNION ALL SELECT concat_ws(' ', 'constraint', conrelid::regclass, conname, convalidated, pg_get_constraintdef(oid))
  FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n'
  UNION ALL SELECT concat_ws(' ', 'index', indexdef) FROM pg_indexes
  WHERE schemaname = 'public' AND indexname NOT LIKE 'domains%trigrams'
  UNION ALL SELECT concat_ws(' ', 'trigger', pg_get_triggerdef(oid)) FROM pg_trigger WHERE NOT tgisinternal
  UNION ALL SELECT concat_ws(' ', 'function', pg_get_functiondef(p.oid)) FROM pg_proc p
  JOIN pg_language l ON l.oid = prolang
  WHERE pronamespace = 'public'::regnamespace AND lanname IN ('sql', 'plpgsql') AND proname LIKE 'catalejo%'`

async function postgresSchema(url: string): Promise<string[]> {
  return (await runStatement(url, POSTGRES_SCHEMA)).map(({ item }) => normalized(item)).toSorted()
}

describe('a new database has the schema of the newest release', () => {
  test('on SQLite', async () => {
    await using folder = await temporaryFolder()
    await using empty = await temporaryFolder()
    const path = await oldSqlite(NEWEST, folder.path)
    const newPath = `${empty.path}/catalejo.db`
    await (await openSqlite(newPath, undefined, { schema })).close()
    const expected = sqliteSchema(path)
    assert.ok(expected.length > 60)
    assert.deepEqual(sqliteSchema(newPath), expected)
    // Opening it at that version changes nothing.
    await (await openSqlite(path, undefined, { schema })).close()
    assert.deepEqual(sqliteSchema(path), expected)
    // The steps since that release lead to the same schema from both.
    for (const each of [path, newPath]) await (await openSqlite(each)).close()
    assert.deepEqual(sqliteSchema(path), sqliteSchema(newPath))
  })

  test('on PostgreSQL', { skip: noPostgres }, async () => {
    await using old = await oldPostgres(NEWEST)
    // The upgrade removes it: release 0.1.0 had it for nodes from before.
    await runStatement(old.url, 'DROP FUNCTION catalejo_watch_webhook CASCADE')
    await using fresh = await newDatabase()
    const at = (url: string) => openPostgres(url, undefined, undefined, { schema })
    await (await at(fresh.url)).close()
    const expected = await postgresSchema(old.url)
    assert.ok(expected.length > 150)
    assert.deepEqual(await postgresSchema(fresh.url), expected)
    await (await at(old.url)).close()
    assert.deepEqual(await postgresSchema(old.url), expected)
    for (const { url } of [old, fresh]) await (await openPostgres(url)).close()
    assert.deepEqual(await postgresSchema(old.url), await postgresSchema(fresh.url))
  })
})
