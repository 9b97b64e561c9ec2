import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Database, OpenOptions } from '../../src/storage/database/database.ts'
import { SCHEMA } from '../../src/storage/database/migrations/index.ts'
import { schemaOf } from '../../src/storage/database/transfer-marks.ts'
import { openPostgres } from '../../src/storage/database/postgres/open.ts'
import { openSqlite } from '../../src/storage/database/sqlite/open.ts'
import { sql } from '../../src/storage/database/sql.ts'
import { newDatabase, noPostgres, type TestDatabase } from '../support/engine.ts'
import { catalejoHere } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'
import { runStatement } from '../support/postgres.ts'
import { NEWEST, oldPostgres, oldSqlite, RELEASED } from './released.ts'
import { NEXT, withTestMigration } from './test-migration.ts'
import { eventually } from '../support/eventually.ts'

const HALF_WAY = fileURLToPath(new URL('./half-way.ts', import.meta.url))
const HALF_WAY_POSTGRES = fileURLToPath(new URL('./half-way-postgres.ts', import.meta.url))
const TOO_OLD =
  'the database is at schema 1, which no release has: if it is older than release 0.1.0, start that once'

describe('a released version’s database', { timeout: 300_000 }, () => {
  test('on SQLite: killed in the middle of a migration, it resumes', async () => {
    await using folder = await temporaryFolder()
    const path = await oldSqlite(NEWEST, folder.path)
    // Only the last step is interrupted.
    await (await openSqlite(path)).close()
    const child = spawn(process.execPath, [HALF_WAY, path], { stdio: 'inherit' })
    const exited = once(child, 'exit')
    await eventually(() => isLocked(path))
    child.kill('SIGKILL')
    await exited
    const db = new DatabaseSync(path)
    assert.equal(db.prepare('PRAGMA user_version').get()?.['user_version'], SCHEMA)
    assert.equal(db.prepare(`SELECT name FROM sqlite_master WHERE name = 'next_release'`).get(), undefined)
    db.close()
    await assertUpgrades(SCHEMA, (options) => openSqlite(path, undefined, options))
  })

  test('on PostgreSQL: killed in the middle of a migration, it resumes', { skip: noPostgres }, async () => {
    await using database = await oldPostgres(NEWEST)
    // Only the last step is interrupted.
    await (await openPostgres(database.url)).close()
    // A transaction that uses the table blocks the migration at its second statement, while others may read and write.
    const using = runStatement(
      database.url,
      `BEGIN; LOCK TABLE domains IN ROW EXCLUSIVE MODE; SELECT pg_sleep(60)`,
    )
    const blocker = await backend(database, `query LIKE '%pg_sleep(60)%'`)
    const ended = assert.rejects(using)
    const child = spawn(process.execPath, [HALF_WAY_POSTGRES, database.url], { stdio: 'inherit' })
    const exited = once(child, 'exit')
    const step = await backend(
      database,
      `wait_event_type = 'Lock' AND query LIKE '%CREATE TABLE next_release%'`,
    )
    child.kill('SIGKILL')
    await exited
    await runStatement(database.url, `SELECT pg_terminate_backend(${blocker})`)
    await ended
    await eventually(async () => {
      const left = await runStatement(database.url, `SELECT FROM pg_stat_activity WHERE pid = ${step}`)
      return left.length === 0
    })
    assert.deepEqual(
      await runStatement(
        database.url,
        `SELECT version, to_regclass('next_release') AS added FROM schema_version`,
      ),
      [{ version: SCHEMA, added: null }],
    )
    await assertUpgrades(SCHEMA, (options) => openPostgres(database.url, undefined, undefined, options))
  })

  /** Several nodes that start together run each step from version `oldest` on once, and report what they found. */
  async function assertUpgrades(oldest: number, open: (options: OpenOptions) => Promise<Database>) {
    const steps: { from: number; to: number }[] = []
    const options = {
      migrations: withTestMigration(),
      onMigrated: (from: number, to: number) => steps.push({ from, to }),
    }
    const nodes = await Promise.all(Array.from({ length: 5 }, () => open(options)))
    try {
      for (const node of nodes) {
        assert.deepEqual(await node.values(sql`SELECT count(*) FROM next_release`), [[1]])
        assert.deepEqual(await node.values(sql`SELECT DISTINCT next_release FROM domains`), [[7]])
        assert.equal(await schemaOf(node), NEXT)
      }
      assert.ok(steps.some(({ from }) => from === oldest))
      assert.ok(steps.every(({ from, to }) => from >= oldest && from < NEXT && to === NEXT))
      await assert.rejects(open({}), {
        message: `the database is at schema ${NEXT}, this version knows only ${SCHEMA}`,
      })
    } finally {
      await Promise.all(nodes.map((node) => node.close()))
    }
  }

  /** Several nodes that start together create one schema; opened at an older version, it is upgraded later. */
  async function assertCreates(open: (options: OpenOptions) => Promise<Database>) {
    const nodes = await Promise.all(Array.from({ length: 5 }, () => open({ schema: SCHEMA })))
    try {
      for (const node of nodes) {
        assert.deepEqual(await node.values(sql`SELECT count(*) FROM change_log`), [[1]])
        assert.equal(await schemaOf(node), SCHEMA)
      }
    } finally {
      await Promise.all(nodes.map((node) => node.close()))
    }
    const next = await open({ migrations: withTestMigration() })
    assert.equal(await schemaOf(next), NEXT)
    await next.close()
  }

  test('several nodes that start together on SQLite migrate once', async () => {
    await using folder = await temporaryFolder()
    await using empty = await temporaryFolder()
    const path = await oldSqlite(RELEASED[0], folder.path)
    await assertUpgrades(Number(RELEASED[0]), (options) => openSqlite(path, undefined, options))
    await assertCreates((options) => openSqlite(`${empty.path}/catalejo.db`, undefined, options))
  })

  test('several nodes that start together on PostgreSQL migrate once', { skip: noPostgres }, async () => {
    await using old = await oldPostgres(RELEASED[0])
    await using empty = await newDatabase()
    await assertUpgrades(Number(RELEASED[0]), (options) =>
      openPostgres(old.url, undefined, undefined, options),
    )
    await assertCreates((options) => openPostgres(empty.url, undefined, undefined, options))
  })

  test('of no release, on PostgreSQL: refused, and left as it is', { skip: noPostgres }, async () => {
    await using folder = await temporaryFolder()
    await using database = await newDatabase()
    const schema = 'CREATE TABLE schema_version AS SELECT true AS only_row, 1 AS version'
    await runStatement(database.url, schema)
    const creation = ['key', 'create', '--account', 'nueva', '--service', 'admin', '--data', folder.path]
    const { code, stderr } = await catalejoHere([...creation, '--database-url', database.url])
    assert.deepEqual([code, stderr.includes(TOO_OLD)], [1, true], stderr)
    assert.deepEqual(await runStatement(database.url, 'SELECT version FROM schema_version'), [{ version: 1 }])
  })

  async function backend(database: TestDatabase, condition: string): Promise<number> {
    let found: unknown
    await eventually(async () => {
      const [row] = await runStatement(
        database.url,
        `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${condition}`,
      )
      found = row?.['pid']
      return found !== undefined
    })
    return Number(found)
  }
})

function isLocked(path: string): boolean {
  const db = new DatabaseSync(path, { timeout: 0 })
  try {
    db.exec('BEGIN IMMEDIATE; ROLLBACK')
    return false
  } catch {
    return true
  } finally {
    db.close()
  }
}
