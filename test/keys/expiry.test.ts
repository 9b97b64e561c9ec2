import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ADD, LIST, record, stored } from '../support/domains.ts'
import { EventReader } from '../support/event-reader.ts'
import { call, send } from '../support/http.ts'
import { EXPIRED, limited, OUT_OF_SCOPE, perMinute } from '../support/key-limits.ts'
import { ManualClock, onTwoNodes, startService } from '../support/service.ts'
import { watch } from '../support/watches.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'

const DAY = 86_400_000

const clock = new ManualClock('2026-01-01T00:00:00Z')
const service = await startService({ clock, flags: { 'webhook-networks': '127.0.0.0/8' } })
after(() => service[Symbol.asyncDispose]())

test('a key is valid until the millisecond of its expiry, also for cached responses', async () => {
  await stored(service, [record('uno')])
  const expiresAt = clock.now() + 90 * DAY
  const { key: api } = await service.newKey('grupo', 'domainwatch', limited({ expiresAt }))
  // Another key may be served by another node, which hears of the record a moment later.
  await service.caughtUp()
  const list = async () => (await call(service, LIST, { query: { api } })).body
  const add = async () => (await send(service, ADD, { api, data: [record('dos')] })).body
  for (let i = 0; i < 3; i++) assert.partialDeepStrictEqual(await list(), { status: 200, count: 1 })
  clock.advance(90 * DAY - 1)
  for (let i = 0; i < 3; i++) assert.partialDeepStrictEqual(await list(), { status: 200, count: 1 })
  assert.deepEqual(await add(), { status: 200, count: 1 })
  clock.advance(1)
  for (let i = 0; i < 3; i++) assert.deepEqual(await list(), EXPIRED)
  assert.deepEqual(await add(), EXPIRED)
  assert.equal((await call(service, LIST, { method: 'HEAD', query: { api } })).status, 401)
})

test('a stream ends when its key expires', async () => {
  const expiresAt = clock.now() + DAY
  const { key: api } = await service.newKey('grupo', 'domainwatch', limited({ scope: 'read', expiresAt }))
  await using reader = await EventReader.open(service, { api })
  await using other = await EventReader.open(service, { api: service.domainKey })
  await stored(service, [record('antes')])
  assert.notEqual(await reader.next(), undefined)
  assert.notEqual(await other.next(), undefined)
  clock.advance(DAY)
  await stored(service, [record('despues')])
  assert.equal(await reader.next(), undefined)
  assert.notEqual(await other.next(), undefined)
})

test('an idle stream ends automatically', async () => {
  const expiresAt = clock.now() + DAY
  const { key: api } = await service.newKey('grupo', 'domainwatch', limited({ scope: 'read', expiresAt }))
  clock.advance(DAY - 1_000)
  await using other = await EventReader.open(service, { api: service.domainKey })
  const heartbeat = other.next().catch(() => undefined)
  await using reader = await EventReader.open(service, { api })
  clock.advance(1_000)
  assert.equal(await reader.next(), undefined)
  // Long before the next heartbeat, as the other stream shows, which is older.
  assert.deepEqual([reader.comments, other.comments], [0, 0])
  other.close()
  await heartbeat
})

test('an account whose last key expired gets no more notifications', async () => {
  using receiver = await WebhookReceiver.start()
  using expired = await WebhookReceiver.start()
  const limits = limited({ scope: 'write', expiresAt: clock.now() + DAY })
  const { key } = await service.newKey('vecino', 'domainwatch', limits)
  const theirs = await watch(service, { search: 'nuevo', url: expired.url, atom: '' }, key)
  await watch(service, { search: 'nuevo', url: receiver.url })
  await stored(service, [record('nuevo1')])
  await Promise.all([receiver.until(1), expired.until(1)])
  const feed = new URL(theirs.atom).pathname
  assert.equal((await call(service, feed)).status, 200)

  clock.advance(DAY)
  assert.equal((await call(service, feed)).status, 404)
  for (const i of [2, 3]) {
    await stored(service, [record(`nuevo${i}`)])
    await receiver.until(i)
  }
  assert.equal(expired.received.length, 1)
})

test('the order of the checks: unknown, service, expiry, scope, rate', async () => {
  await using strict = await startService({ clock, flags: { 'failed-keys': '1' } })
  const limits = { scope: 'read', expiresAt: clock.now() + 1_000, rate: perMinute(1) } as const
  const { key: api, id } = await strict.newKey('grupo', 'domainwatch', limits)
  const read = async () => (await call(strict, LIST, { query: { api } })).body
  const write = async () => (await send(strict, ADD, { data: [] }, { query: { api } })).body
  const other = async () => (await call(strict, '/api/v1/imagestore/list', { query: { api } })).body
  const OTHER = { status: 403, msg: 'La clave de API no da acceso a este servicio' }
  assert.partialDeepStrictEqual(await read(), { status: 200 })
  assert.partialDeepStrictEqual(await read(), { status: 429 })
  // An out-of-scope request does not count, and is rejected as such whatever the rate.
  assert.deepEqual(await write(), OUT_OF_SCOPE)
  assert.deepEqual(await other(), OTHER)
  clock.advance(1_000)
  // An expired key is not a guess, so it is never rate-limited.
  for (let i = 0; i < 3; i++) {
    assert.deepEqual(await read(), EXPIRED)
    assert.deepEqual(await write(), EXPIRED)
  }
  assert.deepEqual(await other(), OTHER)
  await strict.revokeKey(id)
  if (onTwoNodes === false) {
    assert.deepEqual(await read(), { status: 401, msg: 'La clave de API no es válida' })
    assert.deepEqual(await read(), { status: 429, msg: 'Demasiadas solicitudes' })
  }
})
