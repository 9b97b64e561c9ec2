import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Database } from '../../src/storage/database/database.ts'
import { migrations } from '../../src/storage/database/migrations/index.ts'
import { openPostgres } from '../../src/storage/database/postgres/open.ts'
import { openSqlite } from '../../src/storage/database/sqlite/open.ts'
import { sql } from '../../src/storage/database/sql.ts'
import { LIST, names, record, records, stored } from '../support/domains.ts'
import { makeDatabase, POSTGRES_URL, type TestDatabase } from '../support/engine.ts'
import { temporaryFolder } from '../support/folder.ts'
import { call } from '../support/http.ts'
import { administer } from '../support/postgres.ts'
import { startService } from '../support/service.ts'
import { oldPostgres, oldSqlite, RELEASED } from './released.ts'
import { eventually } from '../support/eventually.ts'

const CLI = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const HALF_WAY = fileURLToPath(new URL('./half-way.ts', import.meta.url))
const NO_SERVER = POSTGRES_URL === undefined && 'no PostgreSQL: run npm run test:faults'
const GET = '/api/v1/imagestore/get'
const HASH = 'abcdefghijklmnopqrstuvwxyz234567'

const freshName = () => `upgrade_${randomBytes(6).toString('hex')}`
const oldDatabase = (version: string) => oldPostgres(version, POSTGRES_URL ?? '', freshName())

/** The service on an old database: what its data must answer, and that all goes on from there. */
async function assertServes(data: string, databaseUrl: string): Promise<void> {
  const service = await startService({ data, flags: { 'database-url': databaseUrl, 'blobs-url': '' } })
  try {
    const old = { ...service, domainKey: 'clave-del-grupo' }
    assert.deepEqual(
      (await records(old)).map(({ name, agent, status, reserved, revision, discarded, date_mod }) =>
        [name, agent, status, reserved, revision, discarded, date_mod].join(' '),
      ),
      [
        'casa grupo 1 0 0 0 2026-01-01 09:00:00',
        'ñandú O\'Higgins \\ "Ñ" 1 1 0 0 2026-01-01 09:00:00',
        'libre grupo 0 0 0 0 2026-01-01 09:00:00',
        'revisado Ana 1 0 1 0 2026-01-01 10:00:00',
        'descartado grupo 1 0 0 1 2026-01-01 10:00:00',
        'soltado grupo 0 0 0 0 2026-01-01 10:00:00',
      ],
    )
    assert.deepEqual(await names(old, { last_deleted: 1 }), ['soltado'])
    assert.deepEqual(await names(old, { search: 'xn--and-6ma2c' }), ['ñandú'])
    assert.equal((await call(service, LIST, { query: { api: 'clave-revocada' } })).status, 401)
    for (const [api, name] of Object.entries({
      'clave-de-fotos': 'Paisaje ñ.png',
      'clave-de-otras': 'otra.png',
    })) {
      const { body } = await call(service, GET, { query: { api, hash: HASH } })
      const date = name === 'otra.png' ? 1_767_225_601 : 1_767_225_600
      assert.deepEqual(body, {
        status: 200,
        name,
        hash: HASH,
        mime: 'image/png',
        width: 20,
        height: 10,
        size: 1234,
        date,
        thumbhash: null,
        expires: null,
      })
    }
    await stored(old, [record('casa', { status: 0 }), record('nuevo')])
    assert.ok((await names(old)).includes('nuevo'))
    const { database } = service.app.context
    const page = await database.changes.since(await database.changes.start(), 1_000)
    assert.ok(page.kind === 'page')
    assert.ok(page.changes.some(({ key, kind }) => key === 'casa' && kind === 'changed'))
  } finally {
    await service.stop()
  }
}

describe('an older version’s database', { timeout: 180_000 }, () => {
  for (const version of RELEASED) {
    test(`${version} on SQLite: the service starts and answers`, async () => {
      await using folder = await temporaryFolder()
      await oldSqlite(version, folder.path)
      await assertServes(folder.path, '')
    })

    test(`${version} on PostgreSQL: the service starts and answers`, { skip: NO_SERVER }, async () => {
      await using folder = await temporaryFolder()
      const database = await oldDatabase(version)
      try {
        await assertServes(folder.path, database.url)
      } finally {
        await database.drop()
      }
    })

    test(`${version} on SQLite: killed in the middle of a step, it resumes`, async () => {
      await using folder = await temporaryFolder()
      const path = await oldSqlite(version, folder.path)
      const child = spawn(process.execPath, [HALF_WAY, path], { stdio: 'inherit' })
      const exited = once(child, 'exit')
      await eventually(() => isLocked(path))
      child.kill('SIGKILL')
      await exited
      const db = new DatabaseSync(path)
      assert.equal(Number(db.prepare('PRAGMA user_version').get()?.['user_version']), Number(version))
      assert.equal(db.prepare(`SELECT name FROM sqlite_master WHERE name = 'changes'`).get(), undefined)
      db.close()
      await assertServes(folder.path, '')
    })

    test(
      `${version} on PostgreSQL: killed in the middle of a step, it resumes`,
      { skip: NO_SERVER },
      async () => {
        await using folder = await temporaryFolder()
        const database = await oldDatabase(version)
        try {
          // A transaction that uses the table keeps the step from its end, while others may still read and write.
          const using = administer(
            database.url,
            `BEGIN; LOCK TABLE domains IN ROW EXCLUSIVE MODE; SELECT pg_sleep(60)`,
          )
          const blocker = await backend(database, `query LIKE '%pg_sleep(60)%'`)
          const ended = assert.rejects(using)
          // Commands that only read refuse an older schema.
          const child = spawn(process.execPath, [
            CLI,
            'key',
            'create',
            '--account',
            'actualiza',
            '--service',
            'admin',
            '--database-url',
            database.url,
            '--data',
            folder.path,
          ])
          const exited = once(child, 'exit')
          const step = await backend(
            database,
            `wait_event_type = 'Lock' AND query LIKE '%CREATE TABLE changes%'`,
          )
          child.kill('SIGKILL')
          await exited
          await administer(database.url, `SELECT pg_terminate_backend(${blocker})`)
          await ended
          await eventually(async () => {
            const left = await administer(database.url, `SELECT FROM pg_stat_activity WHERE pid = ${step}`)
            return left.length === 0
          })
          assert.deepEqual(
            await administer(
              database.url,
              `SELECT version, to_regclass('changes') AS changes FROM schema_version`,
            ),
            [{ version: Number(version), changes: null }],
          )
          await assertServes(folder.path, database.url)
        } finally {
          await database.drop()
        }
      },
    )
  }

  async function assertOneSchema(open: () => Promise<Database>) {
    const nodes = await Promise.all(Array.from({ length: 5 }, open))
    try {
      for (const node of nodes) {
        assert.deepEqual(await node.values(sql`SELECT count(*) FROM change_log`), [[1]])
      }
    } finally {
      await Promise.all(nodes.map((node) => node.close()))
    }
  }

  test('several nodes that start together on SQLite migrate once', async () => {
    await using folder = await temporaryFolder()
    await using empty = await temporaryFolder()
    const path = await oldSqlite('001', folder.path)
    for (const file of [path, `${empty.path}/catalejo.db`]) await assertOneSchema(() => openSqlite(file))
  })

  test('several nodes that start together on PostgreSQL migrate once', { skip: NO_SERVER }, async () => {
    for (const database of [await oldDatabase('001'), await makeDatabase(POSTGRES_URL ?? '', freshName())]) {
      try {
        await assertOneSchema(() => openPostgres(database.url))
        const [row] = await administer(database.url, 'SELECT version FROM schema_version')
        assert.equal(row?.['version'], migrations.length)
      } finally {
        await database.drop()
      }
    }
  })

  async function backend(database: TestDatabase, condition: string): Promise<number> {
    let found: unknown
    await eventually(async () => {
      const [row] = await administer(
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
