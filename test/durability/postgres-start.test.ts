import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { describe, test } from 'node:test'
import { SCHEMA } from '../../src/storage/database/migrations/index.ts'
import { openPostgres } from '../../src/storage/database/postgres/open.ts'
import { MIGRATION_LOCK } from '../../src/storage/database/postgres/prepare.ts'
import { raw, sql } from '../../src/storage/database/sql.ts'
import { catalejo, catalejoHere } from '../support/cli.ts'
import { newDatabase, noPostgres, POSTGRES_URL } from '../support/engine.ts'
import { temporaryFolder } from '../support/folder.ts'
import { freePort } from '../support/free-port.ts'
import { runStatement, databaseAt, openSession, startPostgres } from '../support/postgres.ts'
import { eventually } from '../support/eventually.ts'

const SERVER = POSTGRES_URL ?? ''
const PATIENCE_MS = 500

describe('starting on PostgreSQL', { skip: noPostgres, timeout: 300_000 }, () => {
  const unique = (name: string) => `${name}_${randomBytes(6).toString('hex')}`

  /** A database and a role that owns nothing, both gone afterwards. */
  async function place() {
    const database = await newDatabase()
    const role = unique('role')
    await runStatement(SERVER, `CREATE ROLE ${role} LOGIN PASSWORD 'canario-9b41'`)
    const url = new URL(database.url)
    url.username = role
    url.password = 'canario-9b41'
    return {
      database,
      role,
      url: String(url),
      async [Symbol.asyncDispose]() {
        await database.drop()
        await runStatement(SERVER, `DROP ROLE ${role}`)
      },
    }
  }

  test('commands that need an instance refuse an empty database, and leave it empty', async () => {
    await using folder = await temporaryFolder()
    await using database = await newDatabase()
    for (const words of [['verify'], ['export'], ['key', 'list'], ['changes']]) {
      const place = ['--data', `${folder.path}/data`, '--database-url', database.url]
      const { code, stderr } = await catalejoHere([...words, ...place])
      assert.equal(code, words[0] === 'verify' ? 2 : 1)
      assert.match(stderr, /^catalejo: .*the PostgreSQL database is empty\n$/)
    }
    assert.deepEqual(
      await runStatement(database.url, `SELECT tablename FROM pg_tables WHERE schemaname = 'public'`),
      [],
    )
  })

  test('a node that waited for another one to begin the schema continues it', async () => {
    await using database = await newDatabase()
    await using other = await openSession(database.url)
    await other.query(`BEGIN; SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`)
    const opening = openPostgres(database.url)
    const waiting = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
    await eventually(async () => (await runStatement(database.url, waiting)).length === 1)
    await other.query(`
      CREATE TABLE schema_version (only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row), version integer NOT NULL);
      INSERT INTO schema_version (version) VALUES (0);
      COMMIT`)
    await (await opening).close()
    assert.deepEqual(await runStatement(database.url, 'SELECT version FROM schema_version'), [
      { version: SCHEMA },
    ])
  })

  /** What keeps it from opening, which must never show a password. */
  async function refusal(url: string): Promise<string> {
    let message = ''
    await assert.rejects(
      openPostgres(url, undefined, undefined, { startTimeoutMs: PATIENCE_MS }),
      (error) => {
        message = error instanceof Error ? error.message : String(error)
        return true
      },
    )
    assert.doesNotMatch(message, /canario|\n/)
    return message
  }

  const searched = async (url: string, faults: string[]) => {
    await using database = await openPostgres(url, undefined, (fault) => faults.push(fault.message))
    await database.transaction((tx) =>
      tx.run(sql`INSERT INTO domains (name, length, agent, agent_folded, status, reserved, date_reg, date_mod)
        VALUES ('casas', 5, 'a', 'a', 1, 0, '2026', '2026')`),
    )
    return await database.scanner.values(
      sql`SELECT name FROM domains WHERE ${database.dialect.contains(raw('name'), 'asa')}`,
    )
  }

  test('a wrong password, a missing role or database: one line each, immediately, exit 1', async () => {
    await using folder = await temporaryFolder()
    const absent = databaseAt(SERVER, 'no_such_database')
    for (const args of [
      ['serve', '--port', '0'],
      ['key', 'list'],
    ]) {
      const place = ['--data', folder.path, '--database-url', absent]
      const { code, stderr, stdout } = await catalejo([...args, ...place])
      assert.equal(code, 1)
      assert.match(
        stderr,
        /^catalejo: (?:could not start: )?PostgreSQL: database "no_such_database" does not exist[^\n]*CREATE DATABASE[^\n]*\n$/,
      )
      assert.equal(stdout, '')
    }
    const stranger = new URL(SERVER)
    stranger.username = 'no_such_role'
    stranger.password = 'canario-9b41'
    assert.match(await refusal(String(stranger)), /role "no_such_role" does not exist/)
    assert.match(await refusal(SERVER.replace('?', '') + '?sslmode=require'), /does not support SSL/)
  })

  test('a rejected password is reported without showing it', async () => {
    await using server = await startPostgres(process.env['TEST_POSTGRES_BIN'], [
      'password_encryption=scram-sha-256',
    ])
    await runStatement(server.url, `ALTER ROLE postgres PASSWORD 'right'`)
    const [file] = await runStatement(server.url, `SELECT current_setting('hba_file') AS path`)
    await runStatement(
      server.url,
      `COPY (SELECT 'host all all 127.0.0.1/32 scram-sha-256') TO '${String(file?.['path'])}'`,
    )
    await runStatement(server.url, 'SELECT pg_reload_conf()')
    const url = new URL(server.url)
    url.password = 'canario-9b41'
    const message = await refusal(String(url))
    assert.match(message, /password authentication failed for user "postgres" \(28P01\)/)
    assert.doesNotMatch(message, /tried for/)
    assert.match(await refusal(server.url), /password/)
  })

  test('an encoding other than UTF8 is rejected before anything is created', async () => {
    const name = unique('latin')
    await runStatement(SERVER, `CREATE DATABASE ${name} ENCODING 'SQL_ASCII' TEMPLATE template0`)
    try {
      const url = databaseAt(SERVER, name)
      assert.match(await refusal(url), /encoding of the database is SQL_ASCII.*'UTF8'/)
      assert.deepEqual(await runStatement(url, `SELECT FROM pg_tables WHERE schemaname = 'public'`), [])
    } finally {
      await runStatement(SERVER, `DROP DATABASE ${name}`)
    }
  })

  test('a read-only server is reported and waited for', async () => {
    await using here = await place()
    const { database, role } = here
    await runStatement(database.url, `GRANT CREATE ON SCHEMA public TO ${role}`)
    await runStatement(database.url, `ALTER ROLE ${role} SET default_transaction_read_only = on`)
    assert.match(await refusal(here.url), /only reads.*name the primary.*tried for 0.5 s/)
    const faults: string[] = []
    const opening = openPostgres(here.url, undefined, (fault) => {
      faults.push(fault.message)
      if (faults.length === 1)
        void runStatement(database.url, `ALTER ROLE ${role} RESET default_transaction_read_only`)
    })
    await (await opening).close()
    assert.match(faults[0] ?? '', /only reads/)
  })

  test('a role that cannot create tables is reported; with existing tables it needs no further rights', async () => {
    await using here = await place()
    const { database, role } = here
    assert.match(await refusal(here.url), /permission denied for schema public \(42501\).*needs CREATE/)
    await (await openPostgres(database.url)).close()
    await runStatement(
      database.url,
      `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role};
       GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO ${role}`,
    )
    const faults: string[] = []
    assert.deepEqual(await searched(here.url, faults), [['casas']])
    assert.deepEqual(faults, [])
  })

  test('if pg_trgm cannot be created, search works without it, and the log says so', async () => {
    await using here = await place()
    const { database, role } = here
    await runStatement(database.url, `GRANT CREATE ON SCHEMA public TO ${role}`)
    const faults: string[] = []
    assert.deepEqual(await searched(here.url, faults), [['casas']])
    assert.match(faults.join('\n'), /^PostgreSQL: pg_trgm cannot be had here[^\n]*$/)
    await runStatement(database.url, 'CREATE EXTENSION pg_trgm')
    const indexes = `SELECT indexname FROM pg_indexes WHERE indexname LIKE '%trigrams'`
    await (await openPostgres(here.url)).close()
    assert.deepEqual(await runStatement(database.url, indexes), [{ indexname: 'images_name_trigrams' }])
  })

  test('startup waits for a server that is not up yet, up to a limit', async () => {
    await using server = await newDatabase()
    const port = await freePort()
    const url = new URL(server.url)
    const upstream = Number(url.port)
    url.port = String(port)
    assert.match(await refusal(String(url)), /ECONNREFUSED 127.0.0.1:\d+ \(ECONNREFUSED\); tried for 0.5 s/)

    const faults: string[] = []
    const opening = openPostgres(String(url), undefined, (fault) => faults.push(fault.message))
    await eventually(() => faults.length > 0)
    const door = forwarder(upstream).listen(port, '127.0.0.1')
    await once(door, 'listening')
    await (await opening).close()
    assert.match(faults[0] ?? '', /ECONNREFUSED/)
    door.close()
  })
})

/** Another door to a server. */
const forwarder = (port: number) =>
  createServer((client) => {
    const server = connect(port, '127.0.0.1')
    client.pipe(server).pipe(client)
    for (const end of [client, server])
      end.on('error', () => [client, server].forEach((one) => one.destroy()))
  })
