import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ADD, LIST, record, stored } from '../support/domains.ts'
import { call, send } from '../support/http.ts'
import { limited, OVER_RATE, perMinute } from '../support/key-limits.ts'
import { ManualClock, startService } from '../support/service.ts'

const clock = new ManualClock('2026-01-01T00:00:00Z')
const service = await startService({ clock })
after(() => service[Symbol.asyncDispose]())

async function statuses(api: string, count: number): Promise<Record<number, number>> {
  const counts: Record<number, number> = {}
  for (let i = 0; i < count; i++) {
    const { status } = await call(service, LIST, { query: { api } })
    counts[status] = (counts[status] ?? 0) + 1
  }
  return counts
}

/** Lets the present windows of all keys end: the database has a clock of its own. */
async function endWindows(ms: number): Promise<void> {
  await service.sql('UPDATE key_rates SET ends_at = 0')
  clock.advance(ms)
}

for (const count of [1, 60]) {
  test(`a rate of ${count}/min allows ${count}, and again after its minute`, async () => {
    const { key } = await service.newKey('grupo', 'domainwatch', limited({ rate: perMinute(count) }))
    for (let window = 0; window < 2; window++) {
      assert.deepEqual(await statuses(key, count + 10), { 200: count, 429: 10 })
      await endWindows(60_000)
    }
  })
}

test('requests over the rate get a Retry-After', async () => {
  await using onTime = await startService()
  const { key: api } = await onTime.newKey('grupo', 'domainwatch', limited({ rate: perMinute(1) }))
  assert.equal((await call(onTime, LIST, { query: { api } })).status, 200)
  const refused = await call(onTime, LIST, { query: { api } })
  assert.deepEqual(refused.body, OVER_RATE)
  const wait = Number(refused.headers.get('retry-after'))
  assert.ok(Number.isInteger(wait) && wait >= 1 && wait <= 60, String(wait))
})

test('exactly the requests that pass the key check count, whatever their outcome', async () => {
  await stored(service, [record('uno')])
  const limits = limited({ scope: 'write', rate: perMinute(7) })
  const { key: api } = await service.newKey('grupo', 'domainwatch', limits)
  const list = async (query = {}, headers = {}) =>
    (await call(service, LIST, { query: { api, ...query }, headers })).status
  const atom = { format: 'atom' }
  const feed = await call(service, '/api/v1/domainwatch/events', { query: { api, ...atom } })
  const etag = feed.headers.get('etag') ?? ''
  const again = await call(service, '/api/v1/domainwatch/events', {
    query: { api, ...atom },
    headers: { 'if-none-match': etag },
  })
  assert.deepEqual([feed.status, again.status], [200, 304])
  assert.equal(await list({ limit: 'x' }), 400)
  assert.equal((await send(service, ADD, { data: 'x' }, { query: { api } })).status, 500)
  assert.equal((await send(service, ADD, { api, data: 'x' })).status, 500)
  assert.equal((await call(service, LIST, { method: 'HEAD', query: { api } })).status, 200)
  // None of these is: its key is wrong, of the other service or may not, or nothing was there.
  assert.equal((await call(service, LIST, { query: { api: `${api} ` } })).status, 401)
  assert.equal((await call(service, '/api/v1/imagestore/list', { query: { api } })).status, 403)
  assert.equal((await call(service, '/api/v1/nada', { query: { api } })).status, 404)
  assert.deepEqual([await list(), await list()], [200, 429])
  assert.equal((await send(service, ADD, { api, data: [] }, { encoding: 'json' })).status, 429)
})

test('keys of one account have a rate each, and a key without one has none', async () => {
  const made = async () => (await service.newKey('grupo', 'domainwatch', limited({ rate: perMinute(3) }))).key
  const [one, other] = [await made(), await made()]
  assert.deepEqual(await statuses(one, 5), { 200: 3, 429: 2 })
  assert.deepEqual(await statuses(other, 5), { 200: 3, 429: 2 })
  assert.deepEqual(await statuses(service.domainKey, 20), { 200: 20 })
})
