import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIST } from '../support/domains.ts'
import { call } from '../support/http.ts'
import { ManualClock, startService, type TestService } from '../support/service.ts'

const WRONG = { status: 401, msg: 'La clave de API no es válida' }
const WAIT = { status: 429, msg: 'Demasiadas solicitudes' }

function from(service: TestService, address: string | undefined, api: string) {
  const headers: Record<string, string> = address === undefined ? {} : { 'x-forwarded-for': address }
  return call(service, LIST, { query: { api }, headers })
}

test('wrong keys beyond the limit are a 429 until there is room for another one', async () => {
  const clock = new ManualClock('2026-01-01T00:00:00Z')
  await using service = await startService({ clock, flags: { 'failed-keys': '5' } })
  const wrong = () => from(service, undefined, 'mala')
  for (let i = 0; i < 5; i++) assert.deepEqual((await wrong()).body, WRONG)
  const refused = await wrong()
  assert.deepEqual(refused.body, WAIT)
  assert.equal(refused.headers.get('retry-after'), '12')
  clock.advance(2_500)
  assert.equal((await wrong()).headers.get('retry-after'), '10')
  // Who has a right key at the same address is not locked out, and neither is the public part.
  assert.equal((await from(service, undefined, service.domainKey)).status, 200)
  assert.equal((await call(service, '/healthz')).status, 200)
  // Without a key, or with the other service's, nothing was tried.
  assert.equal((await call(service, LIST)).status, 401)
  assert.equal((await from(service, undefined, service.imageKey)).status, 403)
  clock.advance(9_499)
  assert.equal((await wrong()).headers.get('retry-after'), '1')
  clock.advance(2)
  assert.deepEqual((await wrong()).body, WRONG)
  assert.deepEqual((await wrong()).body, WAIT)
  clock.advance(60_000)
  for (let i = 0; i < 5; i++) assert.deepEqual((await wrong()).body, WRONG)
})

test('300 a minute by default, over all endpoints and places of the key together', async () => {
  await using service = await startService({ clock: new ManualClock('2026-01-01T00:00:00Z') })
  for (let i = 0; i < 300; i += 3) {
    assert.equal((await from(service, undefined, `mala${i}`)).status, 401)
    const body = new URLSearchParams({ api: 'mala' })
    assert.equal((await call(service, '/api/v1/domainwatch/add', { body })).status, 401)
    assert.equal((await call(service, '/api/v1/imagestore/get?api=mala')).status, 401)
  }
  const body = new URLSearchParams({ api: 'mala' })
  assert.deepEqual((await from(service, undefined, 'mala')).body, WAIT)
  assert.deepEqual((await call(service, '/api/v1/domainwatch/add', { body })).body, WAIT)
  const logged = await call(service, '/metrics', { query: { api: 'mala' } })
  assert.match(logged.text, /status="429"/)
})

test('X-Forwarded-For of an untrusted client is ignored', async () => {
  await using service = await startService({ flags: { 'failed-keys': '2' } })
  assert.equal((await from(service, '203.0.113.1', 'mala')).status, 401)
  assert.equal((await from(service, '203.0.113.2', 'mala')).status, 401)
  assert.equal((await from(service, '203.0.113.3', 'mala')).status, 429)
})

test('X-Forwarded-For of a trusted proxy identifies clients', async () => {
  await using service = await startService({
    flags: { 'failed-keys': '1', 'trusted-proxies': '127.0.0.0/8, 10.0.0.1' },
  })
  const statuses = async (...addresses: string[]) => {
    const all: number[] = []
    for (const address of addresses) all.push((await from(service, address, 'mala')).status)
    return all
  }
  assert.deepEqual(await statuses('203.0.113.1', '203.0.113.2', '203.0.113.1'), [401, 401, 429])
  // Only what a trusted proxy added counts: what its client claims to be is not believed.
  assert.deepEqual(await statuses('1.1.1.1, 203.0.113.9', '2.2.2.2, 203.0.113.9'), [401, 429])
  // A chain of trusted proxies is followed to its end.
  assert.deepEqual(await statuses('203.0.113.20, 10.0.0.1', '203.0.113.20'), [401, 429])
  // One IPv6 network is one client, an IPv4 address in IPv6 form is that address.
  assert.deepEqual(
    await statuses('2001:db8:1:2::1', '2001:db8:1:2:ffff::9', '2001:db8:1:3::1'),
    [401, 429, 401],
  )
  assert.deepEqual(await statuses('203.0.113.30', '::ffff:203.0.113.30'), [401, 429])
  // No address at all.
  assert.deepEqual(await statuses('nada', 'nada', 'otra'), [401, 429, 401])
})
