/** Each wrong key is read from the database: a client that sends many must not take all connections. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import pg from 'pg'
import { makeDatabase, POSTGRES_URL } from '../support/engine.ts'
import { ADD, add, record } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { postFrom } from '../support/senders.ts'
import { startService } from '../support/service.ts'

const WRONG_KEYS = 60
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const HISTORY = '/api/v1/domainwatch/history'

test(
  'valid requests continue while wrong keys wait for the database',
  { skip: POSTGRES_URL === undefined, timeout: 300_000 },
  async () => {
    const made = await makeDatabase(POSTGRES_URL ?? '', `wrong_${randomBytes(6).toString('hex')}`)
    await using cleanup = new AsyncDisposableStack()
    cleanup.defer(() => made.drop())
    await using service = await startService({ flags: { 'database-url': made.url } })
    const { url, domainKey } = service
    await add(service, [record('sitio')])
    const history = () =>
      fetch(`${url}${HISTORY}?domain=sitio.cl&api=${domainKey}`, { signal: AbortSignal.timeout(30_000) })
    assert.equal((await history()).status, 200)
    const holder = new pg.Client({ connectionString: made.url })
    await holder.connect()
    await holder.query('BEGIN; LOCK TABLE keys IN ACCESS EXCLUSIVE MODE')
    const wrong = Array.from({ length: WRONG_KEYS }, (_, i) =>
      postFrom(`${url}${ADD}?api=wrong${i}`, { from: '127.0.0.2', headers: FORM, body: '' }),
    )
    await eventually(async () => {
      const { rows } = await holder.query<{ count: number }>(
        "SELECT count(*)::int AS count FROM pg_locks WHERE NOT granted AND relation = 'keys'::regclass",
      )
      return (rows[0]?.count ?? 0) > 0
    })
    const statuses = [(await history()).status, (await history()).status]
    await holder.query('ROLLBACK')
    await holder.end()
    assert.deepEqual(statuses, [200, 200])
    assert.deepEqual(new Set((await Promise.all(wrong)).map(({ status }) => status)), new Set([401]))
  },
)
