/** Each link to an unknown image is read from the database: a client that requests many must not take all connections. */
import { parseError } from '../support/error-codes.ts'
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import pg from 'pg'
import { add, record } from '../support/domains.ts'
import { makeDatabase, POSTGRES_URL } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { startService } from '../support/service.ts'

const LINKS = 60

test(
  'other requests continue while links to unknown images wait for the database',
  { skip: POSTGRES_URL === undefined, timeout: 300_000 },
  async () => {
    const made = await makeDatabase(POSTGRES_URL ?? '', `links_${randomBytes(6).toString('hex')}`)
    await using cleanup = new AsyncDisposableStack()
    cleanup.defer(() => made.drop())
    await using service = await startService({ flags: { 'database-url': made.url } })
    const { url, domainKey } = service
    await add(service, [record('sitio')])
    const history = async () => {
      const address = `${url}/api/v1/domainwatch/history?domain=sitio.cl&api=${domainKey}`
      return (await fetch(address, { signal: AbortSignal.timeout(30_000) })).status
    }
    assert.equal(await history(), 200)
    const holder = new pg.Client({ connectionString: made.url })
    await holder.connect()
    await holder.query('BEGIN; LOCK TABLE images IN ACCESS EXCLUSIVE MODE')
    const links = Array.from({ length: LINKS }, (_, i) =>
      fetch(`${url}/i/${'a'.repeat(30)}${'bcdefghijk'[i % 10]}${'qrstuv'[Math.floor(i / 10)]}`),
    )
    await eventually(async () => {
      const { rows } = await holder.query<{ count: number }>(
        "SELECT count(*)::int AS count FROM pg_locks WHERE NOT granted AND relation = 'images'::regclass",
      )
      return (rows[0]?.count ?? 0) > 1
    })
    const statuses = [await history(), await history()]
    await holder.query('ROLLBACK')
    await holder.end()
    assert.deepEqual(statuses, [200, 200])
    for (const response of await Promise.all(links)) {
      assert.deepEqual(parseError(await response.text()), { status: 404, msg: 'La imagen no existe' })
    }
  },
)
