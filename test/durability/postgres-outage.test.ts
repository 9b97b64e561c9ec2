import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { OverloadError } from '../../src/lib/errors.ts'
import { openPostgres } from '../../src/storage/database/postgres/open.ts'
import { sql } from '../../src/storage/database/sql.ts'
import { add, LIST, names, record } from '../support/domains.ts'
import { newDatabase, noPostgres, POSTGRES_URL, type TestDatabase } from '../support/engine.ts'
import { temporaryFolder } from '../support/folder.ts'
import { call } from '../support/http.ts'
import { gradient, ImageClient } from '../support/images.ts'
import { runStatement } from '../support/postgres.ts'
import { startService, type TestService } from '../support/service.ts'
import { eventually } from '../support/eventually.ts'

describe('outages of PostgreSQL', { skip: noPostgres, timeout: 300_000 }, () => {
  async function start(flags: { password?: string } = {}) {
    const database = await newDatabase()
    const url = new URL(database.url)
    url.password = flags.password ?? ''
    const service = await startService({ flags: { 'database-url': String(url) } })
    return {
      service,
      database,
      async [Symbol.asyncDispose]() {
        await service[Symbol.asyncDispose]()
        await database.drop()
      },
    }
  }

  const nameOf = ({ url }: TestDatabase) => new URL(url).pathname.slice(1)

  const backends = async (database: TestDatabase) =>
    (
      await runStatement(
        POSTGRES_URL ?? '',
        `SELECT pid FROM pg_stat_activity WHERE datname = '${nameOf(database)}'`,
      )
    ).map(({ pid }) => Number(pid))

  const list = (service: TestService) => call(service, LIST, { query: { api: service.domainKey } })

  test('closed connections are replaced without failed requests', async () => {
    await using place = await start({ password: 'canario-9b41' })
    const { service, database } = place
    await add(service, [record('uno')])
    for (let round = 0; round < 5; round++) {
      for (const pid of await backends(database))
        await runStatement(database.url, `SELECT pg_terminate_backend(${pid})`)
      assert.equal((await list(service)).status, 200)
      for (const pid of await backends(database))
        await runStatement(database.url, `SELECT pg_terminate_backend(${pid})`)
      await add(service, [record(`nuevo${round}`)])
      assert.ok((await names(service)).includes(`nuevo${round}`))
    }
    assert.match(await service.log(), /database error/)
    assert.doesNotMatch(await service.log(), /canario-9b41/)
  })

  test('a commit is durable even if the server is configured otherwise', async () => {
    await using asynchronous = await newDatabase()
    const name = nameOf(asynchronous)
    await runStatement(POSTGRES_URL ?? '', `ALTER DATABASE ${name} SET synchronous_commit = off`)
    await using database = await openPostgres(asynchronous.url)
    const setting = sql<{ value: string }>`SELECT current_setting('synchronous_commit') AS value`
    assert.deepEqual(await database.first(setting), { value: 'off' })
    assert.deepEqual(await database.transaction((tx) => tx.first(setting)), { value: 'on' })
  })

  test('while it refuses connections: 503 with Retry-After; then recovers automatically', async () => {
    await using place = await start()
    const { service, database } = place
    const name = nameOf(database)
    await add(service, [record('uno')])
    await runStatement(POSTGRES_URL ?? '', `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
    for (const pid of await backends(database))
      await runStatement(POSTGRES_URL ?? '', `SELECT pg_terminate_backend(${pid})`)
    await eventually(async () => (await list(service)).status === 503)
    const refused = await list(service)
    assert.deepEqual(refused.body, { status: 503, msg: 'El servicio está saturado, inténtelo de nuevo' })
    assert.equal(refused.headers.get('retry-after'), '1')
    assert.equal((await call(service, '/readyz')).status, 503)
    assert.equal((await call(service, '/healthz')).status, 200)
    await runStatement(POSTGRES_URL ?? '', `ALTER DATABASE ${name} ALLOW_CONNECTIONS true`)
    await eventually(async () => (await list(service)).status === 200)
    assert.equal((await call(service, '/readyz')).status, 200)
    await add(service, [record('dos')])
    assert.deepEqual((await names(service)).toSorted(), ['dos', 'uno'])
  })

  test('while it is frozen: 503 within the time limit; then recovers automatically', async () => {
    await using place = await start()
    const { service, database } = place
    await add(service, [record('uno')])
    const frozen = await backends(database)
    for (const pid of frozen) process.kill(pid, 'SIGSTOP')
    try {
      // They stay frozen until all are answered: a request that waits without a limit never is.
      const write = service.app.context.database.transaction((tx) => tx.run(sql`DELETE FROM blob_trash`))
      const [answers] = await Promise.all([
        Promise.all(Array.from({ length: 12 }, () => list(service))),
        assert.rejects(write, OverloadError),
      ])
      for (const { status } of answers) assert.ok(status === 200 || status === 503)
      assert.ok(answers.some(({ status }) => status === 503))
    } finally {
      for (const pid of frozen) process.kill(pid, 'SIGCONT')
    }
    await eventually(async () => (await list(service)).status === 200)
    await add(service, [record('dos')])
  })

  /** The connections on which nodes follow commits. */
  const listeners = async (database: TestDatabase) =>
    (
      await runStatement(
        POSTGRES_URL ?? '',
        `SELECT pid FROM pg_stat_activity WHERE datname = '${nameOf(database)}' AND query LIKE '%pg_current_snapshot()%'
          AND pid <> pg_backend_pid()`,
      )
    ).map(({ pid }) => Number(pid))

  test('a node that cannot follow commits uses no cache: what others revoke, add and delete is seen', async () => {
    await using place = await start()
    const { service, database } = place
    await using folder = await temporaryFolder()
    await using other = await startService({ flags: { 'database-url': database.url }, data: folder.path })
    const { key, id } = await service.newKey('nueva', 'domainwatch')
    const there = new ImageClient(other.url, service.imageKey)
    const { body } = await there.upload(await gradient(30, 20).png().toBuffer())
    const hash = String(body['hash'])
    await add(service, [record('uno')])
    const seen = async () => [
      (await call(other, LIST, { query: { api: key } })).status,
      (await names(other)).length,
      (await there.link(hash)).status,
    ]
    await eventually(async () => isDeepStrictEqual(await seen(), [200, 1, 200]), 'everything is cached')
    await eventually(async () => (await listeners(database)).length === 2, 'both nodes listen')
    const frozen = await listeners(database)
    await runStatement(POSTGRES_URL ?? '', `ALTER DATABASE ${nameOf(database)} ALLOW_CONNECTIONS false`)
    for (const pid of frozen) process.kill(pid, 'SIGSTOP')
    try {
      await service.revokeKey(id)
      await add(service, [record('dos')])
      assert.equal((await new ImageClient(service.url, service.imageKey).remove(hash)).status, 200)
      await eventually(async () => isDeepStrictEqual(await seen(), [401, 2, 404]), 'nothing old is answered')
    } finally {
      for (const pid of frozen) process.kill(pid, 'SIGCONT')
    }
  })

  test('a lost listener is replaced, and an unannounced commit is noticed', async () => {
    await using database = await newDatabase()
    await using one = await openPostgres(database.url)
    await eventually(async () => (await listeners(database)).length === 1)
    const [lost] = await listeners(database)
    await runStatement(database.url, `SELECT pg_terminate_backend(${lost})`)
    await eventually(async () => (await listeners(database)).some((pid) => pid !== lost))
    const before = one.version('key')
    const [account] = await runStatement(
      database.url,
      `INSERT INTO accounts (name, service, created_at) VALUES ('x', 'domainwatch', 0) RETURNING id`,
    )
    // As a node leaves it that dies between its commit and its announcement.
    await runStatement(
      database.url,
      `INSERT INTO keys (id, account_id, digest, created_at) VALUES ('k', ${String(account?.['id'])}, 'd', 0)`,
    )
    await eventually(async () => one.version('key') !== before)
  })
})
