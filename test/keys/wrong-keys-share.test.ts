/** Each wrong key and each link to an unknown image is read from the database: a client that sends many must not take all connections. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDatabase, POSTGRES_URL } from '../support/engine.ts'
import { ADD, add, record } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { openSession } from '../support/postgres.ts'
import { postFrom } from '../support/senders.ts'
import { startService } from '../support/service.ts'

const REQUESTS = 60
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const HISTORY = '/api/v1/domainwatch/history'

for (const [what, table, status, ask] of [
  [
    'wrong keys',
    'keys',
    401,
    (url: string, i: number) =>
      postFrom(`${url}${ADD}?api=wrong${i}`, { from: '127.0.0.2', headers: FORM, body: '' }),
  ],
  [
    'links to unknown images',
    'images',
    404,
    (url: string, i: number) =>
      fetch(`${url}/i/${'a'.repeat(30)}${'bcdefghijk'[i % 10]}${'qrstuv'[Math.floor(i / 10)]}`),
  ],
] as const) {
  test(
    `valid requests continue while ${what} wait for the database`,
    { skip: POSTGRES_URL === undefined, timeout: 300_000 },
    async () => {
      await using made = await newDatabase()
      await using service = await startService({ flags: { 'database-url': made.url } })
      const { url, domainKey } = service
      await add(service, [record('sitio')])
      const history = async () => {
        const address = `${url}${HISTORY}?domain=sitio.cl&api=${domainKey}`
        return (await fetch(address, { signal: AbortSignal.timeout(30_000) })).status
      }
      assert.equal(await history(), 200)
      await using holder = await openSession(made.url)
      await holder.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
      const unknown = Array.from({ length: REQUESTS }, (_, i) => ask(url, i))
      await eventually(async () => {
        const { rows } = await holder.query<{ count: number }>(
          `SELECT count(*)::int AS count FROM pg_locks WHERE NOT granted AND relation = '${table}'::regclass`,
        )
        return (rows[0]?.count ?? 0) > 0
      })
      const statuses = [await history(), await history()]
      await holder.query('ROLLBACK')
      assert.deepEqual(statuses, [200, 200])
      assert.deepEqual(new Set((await Promise.all(unknown)).map((reply) => reply.status)), new Set([status]))
    },
  )
}
