import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { record, stored, storedNames, update } from '../support/domains.ts'
import { EventReader } from '../support/event-reader.ts'
import { call, send } from '../support/http.ts'
import { ManualClock, startService } from '../support/service.ts'
import { removeWatch, watch, WATCHES, getWatches, watchUntil } from '../support/watches.ts'
import { changesIn, verify, WebhookReceiver } from '../support/webhook-receiver.ts'

const clock = new ManualClock(new Date().toISOString())
const service = await startService({ clock, flags: { 'webhook-networks': '127.0.0.0/8' } })
after(() => service[Symbol.asyncDispose]())

test('a webhook notifies of new matches since its creation, signed, once', async () => {
  using receiver = await WebhookReceiver.start()
  await using reader = await EventReader.open(service, { api: service.domainKey })
  await stored(service, [record('viejo', { status: 0 })])
  // On PostgreSQL a change is settled when all concurrent transactions have ended.
  await reader.next()
  const { id, secret, atom } = await watch(service, {
    name: 'Cortos y libres',
    max_length: '5',
    status: '0',
    url: receiver.url,
  })
  assert.equal(atom, 'null')
  await stored(service, [record('libre', { status: 0 }), record('tomado'), record('cinco')])
  await receiver.until(1)
  const [first] = receiver.received
  assert.ok(first !== undefined)
  verify(secret, first)
  assert.match(first.id, /^msg_[\w-]+$/)
  assert.equal(first.timestamp, Math.floor(clock.now() / 1000))
  assert.equal(first.body.type, 'domains.changed')
  const data = Object(first.body.data)
  assert.deepEqual([data.watch, data.count], [{ id, name: 'Cortos y libres' }, 1])
  assert.equal(data.changes[0].at, first.body.timestamp)
  assert.deepEqual(changesIn(first), ['added libre'])
  // It matches already; then it comes to match; then it no longer does.
  await update(service, [{ domain: 'libre', revision: 1 }])
  await stored(service, [record('cinco', { status: 0 })])
  await stored(service, [record('libre')])
  await stored(service, [record('otro', { status: 0 })])
  await watchUntil(service, id, ({ pending, last_delivery }) => pending === 0 && last_delivery !== null)
  assert.deepEqual(await receiver.untilChanges(3), ['added libre', 'changed cinco', 'added otro'])
  assert.equal((await removeWatch(service, id)).status, 200)
})

test('with changes=all it notifies of every change of matching records', async () => {
  using receiver = await WebhookReceiver.start()
  const { id } = await watch(service, { search: 'todo', changes: 'all', url: receiver.url })
  await stored(service, [record('todo')])
  await update(service, [{ domain: 'todo', revision: 1 }])
  await update(service, [{ domain: 'todo', discarded: 1 }])
  assert.deepEqual(await receiver.untilChanges(3), ['added todo', 'changed todo', 'discarded todo'])
  await removeWatch(service, id)
})

test('it can watch for lookalikes, in addition to all other filters', async () => {
  using receiver = await WebhookReceiver.start()
  const { id } = await watch(service, { similar: 'MiBanco.cl', status: '1', url: receiver.url })
  const near = ['m1banco', 'mi-banco', 'mibancochile', 'mibamco', 'mibnco-login']
  const far = ['mibanco', 'panaderia', 'zzz']
  await storedNames(service, [...near, ...far])
  await stored(service, [record('mibanc0', { status: 0 })])
  await stored(service, [record('mibanko')])
  assert.deepEqual(
    new Set(await receiver.untilChanges(near.length + 1)),
    new Set([...near, 'mibanko'].map((name) => `added ${name}`)),
  )
  const [shown] = await getWatches(service)
  assert.deepEqual(shown?.['filters'], { status: '1', similar: 'mibanco' })
  await removeWatch(service, id)
})

test('a watch for several brands says which one a name resembles', async () => {
  using receiver = await WebhookReceiver.start()
  const brands = ['Copec.cl', 'bci', 'xn--and-6ma2c'].join(', ')
  const { id, atom } = await watch(service, {
    similar: brands,
    max_distance: 12,
    url: receiver.url,
    atom: '',
  })
  const names = ['copec-pagos', 'bci', 'bcf', 'beneficiosbcl', 'copeczqxwzqxwzq', 'ñandu', 'copechub']
  await storedNames(service, names)
  await receiver.untilChanges(4)
  const found = receiver.received.flatMap(({ body }): string[] =>
    Object(body.data).changes.map(
      (change: { record: { name: string }; resembles: string }) =>
        `${change.record.name} ${change.resembles}`,
    ),
  )
  assert.deepEqual(found.toSorted(), [
    'beneficiosbcl bci',
    'copec-pagos copec',
    'copechub copec',
    'ñandu ñandú',
  ])
  const shown = (await getWatches(service)).find((one) => one['id'] === id)
  assert.deepEqual(shown?.['filters'], { similar: 'copec,bci,ñandú', max_distance: '12' })
  // The details of one name show its lookalikes.
  const { text } = await call(service, atom.slice(service.url.length))
  assert.equal(/rel="alternate" .*?href="(.*?)"/.exec(text)?.[1], `${service.url}/console/dominios`)
  await removeWatch(service, id)
})

test('many changes are sent in few deliveries of at most 50 each', async () => {
  using receiver = await WebhookReceiver.start()
  const { id } = await watch(service, { starts: 'lote', url: receiver.url })
  await stored(
    service,
    Array.from({ length: 430 }, (_, i) => record(`lote${i}`)),
  )
  await receiver.until(9)
  assert.deepEqual([receiver.changes.length, new Set(receiver.changes).size], [430, 430])
  assert.ok(receiver.received.every((one) => changesIn(one).length <= 50))
  assert.ok(receiver.received.length < 20)
  await removeWatch(service, id)
})

test('a failed delivery is retried with growing delays and the same id and body, then given up', async () => {
  using receiver = await WebhookReceiver.start()
  receiver.answer = (response) => void response.writeHead(receiver.received.length === 2 ? 302 : 500).end()
  const { id, secret } = await watch(service, { search: 'falla', url: receiver.url })
  await stored(service, [record('falla1')])
  await receiver.until(1)
  const minutes = [1 / 12, 5, 30, 120, 300, 600, 840, 1_200, 1_440]
  for (const [failed, delay] of minutes.entries()) {
    const shown = await watchUntil(service, id, ({ attempts }) => attempts === failed + 1)
    assert.equal(shown['state'], 'active')
    const wait = Date.parse(String(shown['next_attempt'])) - clock.now()
    assert.ok(wait >= delay * 60_000 && wait <= delay * 72_000 + 1, `${wait} after ${failed + 1}`)
    assert.equal(shown['last_error'], `El receptor respondió ${failed === 1 ? 302 : 500}`)
    clock.advance(wait)
    await receiver.until(failed + 2)
  }
  const dead = await watchUntil(service, id, ({ state }) => state === 'dead')
  assert.deepEqual([dead['attempts'], dead['next_attempt'], dead['pending']], [10, null, 1])
  assert.equal(new Set(receiver.received.map((one) => `${one.id} ${one.text}`)).size, 1)
  assert.equal(new Set(receiver.received.map(({ timestamp }) => timestamp)).size, 10)
  for (const one of receiver.received) verify(secret, one)

  // A test that arrives brings it back to life, with what it still has to tell.
  receiver.answer = (response) => void response.writeHead(200).end('x'.repeat(1_000_000))
  const tested = await send(service, `${WATCHES}/test`, { id }, { query: { api: service.domainKey } })
  const arrived = { delivered: 1, code: 200, error: null }
  const data = [{ channel: 'webhook', to: `webhook:${receiver.url}`, ...arrived }]
  assert.deepEqual(tested.body, { status: 200, id, ...arrived, data })
  await receiver.until(12)
  assert.equal(receiver.received[10]?.body.type, 'watch.test')
  assert.equal(receiver.received[11]?.id, receiver.received[0]?.id)
  const alive = await watchUntil(service, id, ({ pending }) => pending === 0)
  assert.deepEqual([alive['state'], alive['last_error']], ['active', null])
  await removeWatch(service, id)
})

test('410 ends a delivery immediately; Retry-After is respected', async () => {
  using receiver = await WebhookReceiver.start()
  receiver.answer = (response) => void response.writeHead(503, { 'retry-after': '3600' }).end()
  const { id } = await watch(service, { search: 'nomas', url: receiver.url })
  await stored(service, [record('nomas')])
  const shown = await watchUntil(service, id, ({ attempts }) => attempts === 1)
  assert.equal(Date.parse(String(shown['next_attempt'])) - clock.now(), 3_600_000)
  receiver.answer = (response) => void response.writeHead(410).end()
  clock.advance(3_600_000)
  const dead = await watchUntil(service, id, ({ state }) => state === 'dead')
  assert.equal(dead['last_error'], 'El receptor respondió 410')
  await removeWatch(service, id)
})
