import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { OverloadError } from '../../src/lib/errors.ts'
import type { Database, Transaction } from '../../src/storage/database/database.ts'
import { openPostgres } from '../../src/storage/database/postgres/open.ts'
import { sql } from '../../src/storage/database/sql.ts'
import { settledHead } from '../contracts/heard.ts'
import { ADD, add, LIST, names, record, stored, update } from '../support/domains.ts'
import { newDatabase, noPostgres } from '../support/engine.ts'
import { call, send } from '../support/http.ts'
import { databaseAt, openSession, runStatement, startPostgres } from '../support/postgres.ts'
import { startService } from '../support/service.ts'
import { eventually } from '../support/eventually.ts'

const insert = (key: string) => sql`INSERT INTO blob_trash (key) VALUES (${key})`
const rename = (from: string, to: string) => sql`UPDATE blob_trash SET key = ${to} WHERE key = ${from}`
const keys = async (database: Database) =>
  (await database.values(sql`SELECT key FROM blob_trash ORDER BY key`)).flat()

describe('transactions that PostgreSQL interrupts', { skip: noPostgres, timeout: 300_000 }, () => {
  async function place() {
    const made = await newDatabase()
    const database = await openPostgres(made.url)
    return {
      url: made.url,
      database,
      async [Symbol.asyncDispose]() {
        await database.close()
        await made.drop()
      },
    }
  }

  const terminate = async (url: string, tx: Transaction) => {
    const own = await tx.first<{ pid: number }>(sql`SELECT pg_backend_pid() AS pid`)
    await runStatement(url, `SELECT pg_terminate_backend(${own?.pid}, 5000)`)
  }

  test('transactions that were rolled back do not make the list index load all records again', async () => {
    await using service = await startService()
    await eventually(async () => (await call(service, '/metrics')).text.includes('catalejo_search_ready 1\n'))
    assert.deepEqual(await names(service), [])
    const insert = (from: number, to: number) =>
      service.sql(
        `INSERT INTO domains (name, length, agent, agent_folded, status, reserved, date_reg, date_mod)
         SELECT 'n' || i, length('n' || i), 'grupo', 'grupo', 1, 0, '2026-01-05 10:20:30', '2026-01-05 10:20:30'
         FROM generate_series(${from}, ${to}) AS i`,
      )
    // More than one page of changes, and as many ids as large batches leave unused.
    await insert(1, 301)
    await service.sql(
      `SELECT count(nextval(pg_get_serial_sequence('changes', 'id'))) FROM generate_series(1, 300001)`,
    )
    await insert(302, 302)
    await eventually(async () => {
      assert.equal((await names(service)).length, 302)
      return (await call(service, '/metrics')).text.includes('catalejo_search_names 302\n')
    })
    assert.doesNotMatch(await service.log(), /reloading the list index/)
  })

  test('what was committed before a node started is not new to it, although a transaction is running', async () => {
    await using here = await place()
    const { database, url } = here
    const create = (name: string) =>
      database.transaction((tx) =>
        tx.run(sql`INSERT INTO accounts (name, service, created_at) VALUES (${name}, 'domainwatch', 0)`),
      )
    await create('uno')
    const first = await settledHead(database)
    await using running = await openSession(url)
    await running.query('BEGIN')
    await running.query('SELECT pg_current_xact_id()')
    await using other = await openPostgres(url)
    const head = other.changes.head()
    const version = () => other.version('account')
    await eventually(() => version() === version(), 'it follows commits')
    const before = version()
    await create('dos')
    await eventually(() => version() !== before, 'it has read the log again')
    await running.query('COMMIT')
    // Transactions of other databases on the server may still be older than the second one.
    assert.ok([first, await settledHead(database)].includes(await head))
  })

  test('a connection lost during a transaction: it is retried, and nothing is stored twice', async () => {
    await using here = await place()
    const { database, url } = here
    for (const when of ['before', 'between'] as const) {
      let runs = 0
      const outcome = await database.transaction(async (tx) => {
        const cut = async (at: typeof when) => void (at === when && runs === 1 && (await terminate(url, tx)))
        runs++
        await cut('before')
        await tx.run(insert(`${when} 1`))
        await cut('between')
        await tx.run(insert(`${when} 2`))
        return 'kept'
      })
      assert.equal(outcome, 'kept')
      assert.equal(runs, 2)
    }
    assert.deepEqual(await keys(database), ['before 1', 'before 2', 'between 1', 'between 2'])
  })

  test('a row that another transaction inserted first is found by a retry; one that never fits is a fault', async () => {
    await using here = await place()
    const { database } = here
    let runs = 0
    await database.transaction(async (tx) => {
      const found = await tx.first(sql`SELECT key FROM blob_trash WHERE key = 'a'`)
      if (++runs === 1) await database.transaction((other) => other.run(insert('a')))
      if (found === undefined) await tx.run(insert('a'))
    })
    assert.equal(runs, 2)
    const repeated = database.transaction(async (tx) => {
      runs++
      await tx.run(insert('a'))
    })
    await assert.rejects(repeated, { message: /\(23505\)$/ })
    assert.equal(runs, 5)
  })

  test('a deadlock: one transaction is rolled back and retried, both are stored', async () => {
    await using here = await place()
    const { database } = here
    await database.transaction((tx) => tx.run(insert('a')))
    await database.transaction((tx) => tx.run(insert('b')))
    let runs = 0
    let holding = 0
    const both = Promise.withResolvers<void>()
    const cross = (first: string, second: string, mark: string) =>
      database.transaction(async (tx) => {
        runs++
        const firstRow = await tx.run(
          sql`UPDATE blob_trash SET key = key || ${mark} WHERE key LIKE ${`${first}%`}`,
        )
        if (++holding === 2) both.resolve()
        await both.promise
        return (
          firstRow +
          (await tx.run(sql`UPDATE blob_trash SET key = key || ${mark} WHERE key LIKE ${`${second}%`}`))
        )
      })
    assert.deepEqual(await Promise.all([cross('a', 'b', '1'), cross('b', 'a', '2')]), [2, 2])
    // Both may be undone where both look for a deadlock at the same moment, and meet again.
    assert.ok(runs >= 3, String(runs))
    const [one, other] = await keys(database)
    assert.ok(['a12', 'a21'].includes(String(one)), String(one))
    assert.equal(String(other).slice(1), String(one).slice(1))
  })

  test('a connection lost during COMMIT: the transaction is not retried, because its outcome is unknown', async () => {
    await using here = await place()
    const { database, url } = here
    // A deferred check holds the COMMIT up for long enough to cut it.
    await runStatement(
      url,
      `CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(20); RETURN NULL; END';
       CREATE CONSTRAINT TRIGGER held AFTER INSERT ON blob_trash DEFERRABLE INITIALLY DEFERRED
         FOR EACH ROW EXECUTE FUNCTION hold()`,
    )
    let runs = 0
    const cut = database.transaction(async (tx) => {
      runs++
      await tx.run(insert('duda'))
    })
    const rejected = assert.rejects(cut, OverloadError)
    const find = `SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event = 'PgSleep'`
    while ((await runStatement(url, find)).length === 0);
    await rejected
    assert.equal(runs, 1)
    assert.deepEqual(await keys(database), [])
  })

  test('waiting too long for a lock is a 503 with Retry-After', async () => {
    await using made = await newDatabase()
    await using service = await startService({ flags: { 'database-url': made.url } })
    await using blocker = await openSession(made.url)
    await add(service, [record('uno')])
    await blocker.query('BEGIN; LOCK TABLE domains IN ACCESS EXCLUSIVE MODE')
    const api = service.domainKey
    // The lock is held until all are answered: a request that waits without a limit never is.
    const answers = await Promise.all([
      // Lists are in memory, notes are not.
      call(service, LIST, { query: { api, fields: 'note' } }),
      call(service, LIST, { query: { api, search: 'un', fields: 'note' } }),
      send(service, ADD, { data: [record('dos')] }, { query: { api } }),
    ])
    for (const answer of answers) {
      assert.equal(answer.status, 503, answer.text)
      assert.equal(answer.headers.get('retry-after'), '1')
    }
    await blocker.query('COMMIT')
    assert.deepEqual(await names(service), ['uno'])
    await add(service, [record('dos')])
  })

  test('lists show what is committed while a transaction is open, after a start too, and what nobody announces', async () => {
    await using made = await newDatabase()
    const flags = { 'database-url': made.url }
    await using slow = await openSession(made.url)
    {
      await using service = await startService({ flags })
      const order = { order: 'name', sort: 'asc' }
      await slow.query(`BEGIN; INSERT INTO domains (name, length, agent, agent_folded, status, reserved, date_reg, date_mod)
        VALUES ('lento', 5, 'a', 'a', 1, 0, '2026-01-01 00:00:00', '2026-01-01 00:00:00')`)
      await stored(service, [record('uno')])
      assert.deepEqual(await names(service, order), ['uno'])
      await using other = await startService({ flags })
      assert.deepEqual(await names(other, order), ['uno'])
      for (const name of ['dos', 'tres']) await stored(other, [record(name)])
      assert.deepEqual(await names(other, order), ['dos', 'tres', 'uno'])
      await eventually(
        async () => (await names(service)).length === 3,
        'the other node announces its commits',
      )
      await slow.query('COMMIT')
      for (const node of [service, other]) {
        await eventually(async () => (await names(node)).length === 4, 'commits are looked for')
        assert.deepEqual(await names(node, order), ['dos', 'lento', 'tres', 'uno'])
      }
    }
  })

  /** Statements that wait for a lock. */
  const waitingForLocks = async (url: string) =>
    (
      await runStatement(
        url,
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      )
    ).length

  test('the server ends statements of clients that gave up waiting', async () => {
    await using made = await newDatabase()
    await using database = await openPostgres(made.url)
    await using blocker = await openSession(made.url)
    await blocker.query('BEGIN; LOCK TABLE blob_trash IN ACCESS EXCLUSIVE MODE')
    // A read has no time limit at the server.
    await assert.rejects(keys(database), OverloadError)
    await eventually(async () => (await waitingForLocks(made.url)) === 0, 'it waits no longer')
  })

  test('small transactions do not wait for large batches', async () => {
    await using made = await newDatabase()
    // Two of the connections are for writes.
    await using service = await startService({
      flags: { 'database-url': made.url, 'database-connections': '6' },
    })
    const { database } = service.app.context
    await using blocker = await openSession(made.url)
    const data = Array.from({ length: 1_001 }, (_, i) => record(`fila${i}`))
    await stored(service, data, { encoding: 'json' })
    const keysOfOthers = await Promise.all(
      ['una', 'otra'].map(async (account) => (await service.newKey(account, 'domainwatch')).key),
    )
    await blocker.query(`BEGIN; SELECT FROM domains WHERE name = 'fila0' FOR UPDATE`)
    let answered = 0
    const marks = data.map(({ domain }) => ({ domain, note: 'sí' }))
    const large = keysOfOthers.map(async (key) => {
      const { status } = await update(service, marks, { key, encoding: 'json' })
      answered++
      return status
    })
    await eventually(
      async () => (await waitingForLocks(made.url)) + database.stats().waitingWrites === large.length,
      'both batches',
    )
    await stored(service, [record('chica')])
    assert.equal(answered, 0)
    await blocker.query('COMMIT')
    assert.deepEqual(await Promise.all(large), [200, 200])
  })

  test('a server restart: running transactions are retried, once each', async () => {
    const settings = ['synchronous_commit=on']
    await using server = await startPostgres(process.env['TEST_POSTGRES_BIN'], settings)
    await using database = await openPostgres(databaseAt(server.url, 'postgres'))
    for (const mode of ['fast', 'immediate'] as const) {
      let runs = 0
      const entered = Promise.withResolvers<void>()
      const back = Promise.withResolvers<void>()
      const writing = database.transaction(async (tx) => {
        runs++
        await tx.run(insert(mode))
        entered.resolve()
        await back.promise
        await tx.run(rename(mode, `${mode} kept`))
      })
      await entered.promise
      const restarted = server.restart(mode)
      void restarted.then(back.resolve, back.reject)
      await writing
      assert.equal(runs, 2)
    }
    assert.deepEqual(await keys(database), ['fast kept', 'immediate kept'])
  })
})
