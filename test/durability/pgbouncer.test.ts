import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { openPostgres } from '../../src/storage/database/postgres/open.ts'
import { sql } from '../../src/storage/database/sql.ts'
import { add, LIST, names, record } from '../support/domains.ts'
import { newDatabase, noPostgres, POSTGRES_URL, type TestDatabase } from '../support/engine.ts'
import { call } from '../support/http.ts'
import { noPgbouncer, startPgbouncer, type Pgbouncer } from '../support/pgbouncer.ts'
import { startService } from '../support/service.ts'
import { eventually } from '../support/eventually.ts'

const SERVER = POSTGRES_URL ?? ''
const SKIP = noPostgres || noPgbouncer
/** Fewer than one node has, so that every one of them serves many. */
const SERVER_CONNECTIONS = 6

describe('through pgbouncer in transaction mode', { skip: SKIP, timeout: 300_000 }, () => {
  let pooler: Pgbouncer
  before(async () => {
    pooler = await startPgbouncer(SERVER, SERVER_CONNECTIONS)
  })
  after(() => pooler[Symbol.asyncDispose]())

  const through = ({ url }: TestDatabase) => pooler.at(new URL(url).pathname.slice(1))

  test('two nodes work with fewer connections than they request', async () => {
    await using database = await newDatabase()
    const flags = {
      'database-url': through(database),
      'database-listen-url': database.url,
      'database-connections': '12',
    }
    await using one = await startService({ flags })
    await using other = await startService({ flags })
    const nodes = [one, other]
    const batch = Array.from({ length: 40 }, (_, i) => record(`nombre${String(i).padStart(2, '0')}`))
    await Promise.all(
      batch.flatMap((each, i) => [
        add(nodes[i % 2] ?? one, [each]),
        call(one, LIST, { query: { api: one.domainKey, search: 'nombre' } }),
        call(other, LIST, { query: { api: other.domainKey } }),
      ]),
    )
    const all = batch.map(({ domain }) => domain)
    // What one node stored may reach the other a moment later.
    for (const node of nodes)
      await eventually(async () => isDeepStrictEqual((await names(node)).toSorted(), all), 'all are listed')
    const servers = await pooler.show('SERVERS')
    const own = servers.filter((server) => server['database'] === new URL(database.url).pathname.slice(1))
    assert.ok(own.length > 0 && own.length <= SERVER_CONNECTIONS, `${own.length} connections`)
  })

  test('without a listen address, changes of other nodes are noticed within about a second', async () => {
    await using database = await newDatabase()
    await using one = await openPostgres(through(database))
    await using other = await openPostgres(through(database))
    await eventually(() => one.version('account') === one.version('account'))
    for (let round = 0; round < 3; round++) {
      const before = one.version('account')
      await other.transaction((tx) =>
        tx.run(
          sql`INSERT INTO accounts (name, service, created_at) VALUES (${`cuenta ${round}`}, 'domainwatch', 0)`,
        ),
      )
      await eventually(() => one.version('account') !== before)
    }
  })
})
