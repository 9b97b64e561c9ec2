import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { record, stored } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { ManualClock, startService } from '../support/service.ts'
import { deliveriesOf, deliveriesUntil, onWatch, removeWatch, watch, watchUntil } from '../support/watches.ts'
import { verify, WebhookReceiver } from '../support/webhook-receiver.ts'

const DAY = 24 * 3_600_000

const clock = new ManualClock(new Date().toISOString())
const service = await startService({ clock, flags: { 'webhook-networks': '127.0.0.0/8' } })
after(() => service[Symbol.asyncDispose]())

/** As if others had followed the first delivery of a watch; their ids, newest first. */
async function addDeliveries(id: string, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let i = 1; i <= count; i++) {
    ids.unshift(`msg_${id}_${i}`)
    await service.sql(`INSERT INTO watch_deliveries (watch_id, number, id, destination_id, channel, created_at, events,
        state, attempts, body)
      SELECT watch_id, ${i + 1}, '${ids[0]}', destination_id, channel, created_at, 1, 'delivered', 1, body
      FROM watch_deliveries WHERE watch_id = '${id}' AND number = 1`)
  }
  await service.sql(`UPDATE watches SET deliveries = ${count + 1} WHERE id = '${id}'`)
  return ids
}

const replay = (id: string, delivery: unknown) => onWatch(service, 'replay', { id, delivery })

test('each delivery is listed with its outcome', async () => {
  using receiver = await WebhookReceiver.start()
  const { id } = await watch(service, { starts: 'cada', url: receiver.url })
  assert.deepEqual((await deliveriesOf(service, { id })).body, { status: 200, count: 0, data: [] })
  await stored(service, [record('cada1'), record('cada2')])
  await receiver.until(1)
  const [first] = await deliveriesUntil(service, id, ([one]) => one?.['state'] === 'delivered')
  const milliseconds = Number(first?.['milliseconds'])
  assert.ok(Number.isSafeInteger(milliseconds) && milliseconds >= 0)
  assert.match(String(first?.['time']), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  assert.deepEqual(
    { ...first, time: '', milliseconds: 0 },
    {
      id: receiver.received[0]?.id,
      time: '',
      time_utc: new Date(clock.now()).toISOString(),
      channel: 'webhook',
      events: 2,
      state: 'delivered',
      attempts: 1,
      code: 204,
      milliseconds: 0,
      error: null,
      replayable: 1,
      replaying: 0,
    },
  )
  receiver.answer = (response) => void response.writeHead(503).end()
  await stored(service, [record('cada3')])
  const [second, again] = await deliveriesUntil(
    service,
    id,
    ([one]) => one?.['attempts'] === 1 && one['id'] !== first?.['id'],
  )
  assert.deepEqual(again, first)
  assert.deepEqual(
    [second?.['state'], second?.['code'], second?.['error'], second?.['events']],
    ['pending', 503, 'El receptor respondió 503', 1],
  )
  await onWatch(service, 'update', { id, url: 'http://127.0.0.1:9/?token=secreto' })
  const [unreachable] = await deliveriesUntil(service, id, ([one]) => one?.['attempts'] === 2)
  assert.deepEqual(
    [unreachable?.['code'], unreachable?.['error']],
    [null, 'No se pudo conectar con el receptor (ECONNREFUSED)'],
  )
  await removeWatch(service, id)
  assert.deepEqual((await deliveriesOf(service, { id })).body, {
    status: 404,
    msg: 'La alerta no existe',
  })
})

test('pages neither skip nor repeat deliveries while others are added', async () => {
  using receiver = await WebhookReceiver.start()
  const { id } = await watch(service, { starts: 'pagina', url: receiver.url })
  await stored(service, [record('pagina')])
  await receiver.until(1)
  const [first] = await deliveriesUntil(service, id, ([one]) => one?.['state'] === 'delivered')
  const expected = [...(await addDeliveries(id, 4)), first?.['id']]
  const seen: unknown[] = []
  let query: Record<string, unknown> = { id, limit: 2 }
  for (let page = 0; ; page++) {
    const { body, headers } = await deliveriesOf(service, query)
    seen.push(...Object(body).data.map((one: { id: string }) => one.id))
    await stored(service, [record(`paginanueva${page}`)])
    await receiver.until(2 + page)
    const next = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1]
    if (next === undefined) break
    query = Object.fromEntries(new URL(next).searchParams)
  }
  assert.deepEqual(seen, expected)
  for (const [name, value, takes] of [
    ['limit', '0', 'debe ser un entero entre 1 y 500'],
    ['limit', '501', 'debe ser un entero entre 1 y 500'],
    ['cursor', 'x', 'debe ser el de la cabecera Link de la página anterior'],
  ])
    assert.deepEqual((await deliveriesOf(service, { id, [String(name)]: value })).body, {
      status: 400,
      msg: `El parámetro ${name} ${takes}`,
    })
  await removeWatch(service, id)
})

test('a delivery is replayed once with its id and content, and the list shows the outcome', async () => {
  using receiver = await WebhookReceiver.start()
  const { id, secret } = await watch(service, { starts: 'otravez', url: receiver.url })
  await stored(service, [record('otravez')])
  await receiver.until(1)
  const [sent] = await deliveriesUntil(service, id, ([one]) => one?.['state'] === 'delivered')
  clock.advance(60_000)
  assert.deepEqual((await replay(id, sent?.['id'])).body, { status: 200, id, delivery: sent?.['id'] })
  await receiver.until(2)
  const [first, second] = receiver.received
  assert.ok(first !== undefined && second !== undefined)
  verify(secret, second)
  assert.deepEqual([second.id, second.text], [first.id, first.text])
  assert.equal(second.timestamp, first.timestamp + 60)
  const [replayed] = await deliveriesUntil(service, id, ([one]) => one?.['attempts'] === 2)
  assert.deepEqual({ ...replayed, milliseconds: 0 }, { ...sent, attempts: 2, milliseconds: 0 })
  receiver.answer = (response) => void response.writeHead(500).end()
  await replay(id, sent?.['id'])
  const [failed] = await deliveriesUntil(service, id, ([one]) => one?.['attempts'] === 3)
  assert.deepEqual(
    [failed?.['state'], failed?.['error'], failed?.['replaying']],
    ['delivered', 'El receptor respondió 500', 0],
    'it arrived once',
  )
  assert.equal((await watchUntil(service, id, () => true))['state'], 'active')
  for (const none of ['msg_x', 'a\0b', ''])
    assert.deepEqual((await replay(id, none)).body, { status: 404, msg: 'La entrega no existe' })
  assert.deepEqual((await onWatch(service, 'replay', { id })).body, {
    status: 400,
    msg: 'Falta el parámetro delivery',
  })
  const other = await watch(service, { atom: '' })
  assert.equal((await replay(other.id, sent?.['id'])).status, 404)
  await removeWatch(service, other.id)
  await removeWatch(service, id)
})

test('a replay of a pending or dead delivery is attempted immediately; success revives the watch', async () => {
  using receiver = await WebhookReceiver.start()
  const { id } = await watch(service, { starts: 'ahora', url: receiver.url })
  await stored(service, [record('ahora1')])
  const [first] = await deliveriesUntil(service, id, ([one]) => one?.['state'] === 'delivered')
  receiver.answer = (response) => void response.writeHead(500).end()
  await stored(service, [record('ahora2')])
  const [waiting] = await deliveriesUntil(service, id, ([one]) => one?.['code'] === 500)
  await replay(id, waiting?.['id'])
  await deliveriesUntil(service, id, ([one]) => one?.['attempts'] === 2)
  receiver.answer = (response) => void response.writeHead(410).end()
  await replay(id, waiting?.['id'])
  const [dead] = await deliveriesUntil(service, id, ([one]) => one?.['state'] === 'failed')
  assert.equal(dead?.['error'], 'El receptor respondió 410')
  assert.equal((await watchUntil(service, id, ({ state }) => state === 'dead'))['pending'], 1)

  receiver.answer = (response) => void response.writeHead(204).end()
  await replay(id, first?.['id'])
  await watchUntil(service, id, ({ state, pending }) => state === 'active' && pending === 0)
  receiver.answer = (response) => void response.writeHead(410).end()
  await stored(service, [record('ahora3')])
  const [given] = await deliveriesUntil(service, id, ([one]) => one?.['code'] === 410)
  receiver.answer = (response) => void response.writeHead(204).end()
  await replay(id, given?.['id'])
  await watchUntil(service, id, ({ state, pending }) => state === 'active' && pending === 0)
  const ids = [first, waiting, given].map((one) => one?.['id'])
  assert.deepEqual(
    receiver.received.map((one) => ids.indexOf(one.id) + 1),
    [1, 2, 2, 2, 1, 2, 3, 3],
  )
  await removeWatch(service, id)
})

test('replays are queued, at most 20 per watch', async () => {
  using receiver = await WebhookReceiver.start()
  const { id } = await watch(service, { starts: 'cola', url: receiver.url })
  await stored(service, [record('cola')])
  await receiver.until(1)
  const [first] = await deliveriesUntil(service, id, ([one]) => one?.['state'] === 'delivered')
  const all = [...(await addDeliveries(id, 21)), first?.['id']]
  const held: (() => void)[] = []
  receiver.answer = (response) => void held.push(() => response.writeHead(204).end())
  await replay(id, all[0])
  await eventually(async () => held.length === 1)
  const statuses = []
  for (const one of all) statuses.push((await replay(id, one)).status)
  assert.deepEqual(statuses, [...Array<number>(20).fill(200), 409, 409])
  assert.deepEqual((await replay(id, all[21])).body, {
    status: 409,
    msg: 'La alerta ya tiene 20 reenvíos en espera',
  })
  receiver.answer = (response) => void response.writeHead(204).end()
  for (const answer of held) answer()
  await deliveriesUntil(service, id, (list) => list.every(({ replaying }) => replaying === 0))
  assert.equal(receiver.received.length, 21)
  await removeWatch(service, id)
})

test('a watch keeps its newest 1,000 deliveries, the newest 100 with content, for 30 days', async () => {
  using receiver = await WebhookReceiver.start()
  const { id } = await watch(service, { starts: 'mucho', url: receiver.url })
  await stored(service, [record('mucho0')])
  await receiver.until(1)
  const [first] = await deliveriesUntil(service, id, ([one]) => one?.['state'] === 'delivered')
  // As if 98 others had followed.
  await service.sql(`UPDATE watches SET deliveries = 99 WHERE id = '${id}'`)
  await stored(service, [record('mucho1')])
  const [, kept] = await deliveriesUntil(service, id, (list) => list.length === 2)
  assert.equal(kept?.['replayable'], 1)
  await stored(service, [record('mucho2')])
  await receiver.until(3)
  const [, , dropped] = await deliveriesUntil(service, id, (list) => list.length === 3)
  assert.equal(dropped?.['replayable'], 0)
  assert.deepEqual((await replay(id, first?.['id'])).body, {
    status: 410,
    msg: 'El contenido de la entrega ya no se conserva',
  })
  await deliveriesUntil(service, id, ([one]) => one?.['state'] === 'delivered')
  await service.sql(`UPDATE watches SET deliveries = 1000 WHERE id = '${id}'`)
  await stored(service, [record('mucho3')])
  await receiver.until(4)
  const list = await deliveriesUntil(service, id, ([one]) => one?.['state'] === 'delivered')
  assert.deepEqual([list.length, list.some((one) => one['id'] === first?.['id'])], [3, false])
  const [newest] = list
  clock.advance(30 * DAY)
  assert.deepEqual((await deliveriesOf(service, { id })).body, { status: 200, count: 0, data: [] })
  assert.deepEqual((await replay(id, newest?.['id'])).body, { status: 404, msg: 'La entrega no existe' })
  await removeWatch(service, id)
})

test('a delivery to a removed destination is listed, but cannot be replayed', async () => {
  using receiver = await WebhookReceiver.start()
  const { id } = await watch(service, { starts: 'sindestino', url: receiver.url })
  await stored(service, [record('sindestino')])
  await receiver.until(1)
  const [sent] = await deliveriesUntil(service, id, ([one]) => one?.['state'] === 'delivered')
  await onWatch(service, 'update', { id, url: '', atom: '' })
  assert.deepEqual((await replay(id, sent?.['id'])).body, {
    status: 410,
    msg: 'La alerta ya no tiene el destino de esa entrega',
  })
  await removeWatch(service, id)
})
