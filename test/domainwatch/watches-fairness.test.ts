import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { after, before, suite, test } from 'node:test'
import { record, stored } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http.ts'
import { ManualClock, startService, type TestService } from '../support/service.ts'
import { removeWatch, watch, WATCHES, getWatches, watchUntil } from '../support/watches.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'

/** Accepts webhooks on every loopback address and answers none until it is released. */
async function startSilentReceiver() {
  const held: ServerResponse[] = []
  let ended = 0
  let isReleased = false
  let code = 0
  const server = createServer((request, response) => {
    request.resume()
    if (isReleased) return void response.writeHead(204).end()
    if (code !== 0) return void response.writeHead(code).end()
    held.push(response)
    response.on('close', () => ended++)
  }).listen(0, '0.0.0.0')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const { port } = address
  return {
    url: (host: number) => `http://127.0.0.${host}:${port}/`,
    held,
    ended: () => ended,
    /** Answers with this status; 0: not at all. */
    answerWith: (status: number) => (code = status),
    release: () => {
      isReleased = true
      for (const response of held) response.writeHead(204).end()
    },
    [Symbol.dispose]: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

suite('watches of several accounts', () => {
  let service: TestService
  let otherKey = ''
  before(async () => {
    service = await startService({ flags: { 'webhook-networks': '127.0.0.0/8' } })
    otherKey = (await service.newKey('otra', 'domainwatch')).key
  })
  after(() => service[Symbol.asyncDispose]())

  test('fifty silent receivers of one account delay no delivery of another', async () => {
    using silent = await startSilentReceiver()
    using receiver = await WebhookReceiver.start()
    const ids = []
    for (let host = 2; host < 52; host++) {
      ids.push((await watch(service, { search: 'ajeno', url: silent.url(host) })).id)
    }
    await stored(service, [record('ajeno')])
    await eventually(async () => silent.held.length === 16)
    const other = await watch(service, { search: 'propio', url: receiver.url }, otherKey)
    await stored(service, [record('propio')])
    await receiver.until(1)
    assert.deepEqual(
      [silent.held.length, silent.ended()],
      [16, 0],
      'no silent receiver was given up meanwhile',
    )
    for (const id of ids) await removeWatch(service, id)
    await removeWatch(service, other.id, otherKey)
  })

  test('concurrent requests of an account to one receiver are limited', async () => {
    using silent = await startSilentReceiver()
    using receiver = await WebhookReceiver.start()
    const ids = []
    for (let i = 0; i < 10; i++) ids.push((await watch(service, { search: 'mismo', url: silent.url(2) })).id)
    ids.push((await watch(service, { search: 'mismo', url: receiver.url })).id)
    await stored(service, [record('mismo')])
    await receiver.until(1)
    await eventually(async () => silent.held.length === 4)
    assert.equal(silent.ended(), 0)
    for (const id of ids) await removeWatch(service, id)
  })

  test('deliveries that wait for others of their account take no place at a receiver', async () => {
    using silent = await startSilentReceiver()
    using receiver = await WebhookReceiver.start()
    const made: { readonly id: string; readonly key: string }[] = []
    const make = async (key: string, search: string, url: string) => {
      made.push({ id: (await watch(service, { search, url }, key)).id, key })
    }
    const keys: string[] = []
    for (let account = 0; account < 4; account++) {
      const { key } = await service.newKey(`muda-${account}`, 'domainwatch')
      keys.push(key)
      for (let i = 0; i < 16; i++) await make(key, 'mudo', silent.url(2 + 16 * account + i))
      // As many as may be at one receiver, so that those of four accounts would take all its places.
      for (let i = 0; i < 4; i++) await make(key, 'detenido', receiver.url)
    }
    await make(otherKey, 'libre', receiver.url)
    await stored(service, [record('mudo')])
    await eventually(async () => silent.held.length === 64)
    await stored(service, [record('detenido')])
    for (const key of keys)
      await eventually(async () => (await getWatches(service, key)).every(({ pending }) => pending === 1))
    await stored(service, [record('libre')])
    await receiver.until(1)
    assert.deepEqual([receiver.received.length, silent.ended()], [1, 0])
    silent.release()
    for (const { id, key } of made) await removeWatch(service, id, key)
  })

  test('tests of one account do not block those of others, and are rate-limited', async () => {
    using silent = await startSilentReceiver()
    using receiver = await WebhookReceiver.start()
    const slow = await watch(service, { url: silent.url(3) })
    const quick = await watch(service, { url: receiver.url }, otherKey)
    const toTest = (id: string, key: string) =>
      send(service, `${WATCHES}/test`, { id }, { query: { api: key } })

    const mine = Array.from({ length: 9 }, () => toTest(slow.id, service.domainKey))
    await eventually(async () => silent.held.length === 2)
    const replies = []
    // The slower the machine, the more tests pass: another one may be sent every six seconds.
    do replies.push(await toTest(quick.id, otherKey))
    while (replies.length < 50 && replies.at(-1)?.status !== 429)
    const passed = replies.filter(({ status }) => status === 200).length
    assert.ok(passed >= 10, 'the burst passes')
    const limited = replies.filter(({ status }) => status === 429)
    // A request that is answered 503 because the receiver took too long may have reached it.
    assert.ok(
      receiver.received.length >= passed && receiver.received.length <= replies.length - limited.length,
    )
    const [refused] = limited
    assert.deepEqual(refused?.body, { status: 429, msg: 'Demasiadas solicitudes' })
    assert.match(refused?.headers.get('retry-after') ?? '', /^[1-6]$/)
    assert.deepEqual([silent.held.length, silent.ended()], [2, 0])
    silent.release()
    const statuses = (await Promise.all(mine)).map(({ status }) => status)
    assert.deepEqual(new Set(statuses), new Set([200, 503]))
    assert.equal(statuses.filter((status) => status === 503).length >= 3, true, 'four may wait')
  })
})

test('a slow receiver of 32 accounts delays no delivery to another slow one', async () => {
  using silent = await startSilentReceiver()
  using receiver = await WebhookReceiver.start()
  const clock = new ManualClock('2026-06-01T15:00:00Z')
  await using service = await startService({ clock, flags: { 'webhook-networks': '127.0.0.0/8' } })
  const hasFailed = ({ attempts }: Record<string, unknown>) => attempts === 1
  silent.answerWith(500)
  receiver.answer = (response) => void response.writeHead(500).end()
  const keys: string[] = []
  for (let account = 0; account < 32; account++) {
    const { key } = await service.newKey(`lenta-${account}`, 'domainwatch')
    keys.push(key)
    for (let i = 0; i < 4; i++) await watch(service, { search: 'lento', url: silent.url(2) }, key)
  }
  await stored(service, [record('lento')])
  for (const key of keys) await eventually(async () => (await getWatches(service, key)).every(hasFailed))
  const { id } = await watch(service, { search: 'otro', url: receiver.url })
  silent.answerWith(0)
  clock.advance(10_000)
  await eventually(async () => silent.held.length >= 8)
  await stored(service, [record('otro')])
  await watchUntil(service, id, hasFailed)
  receiver.answer = (response) => void response.writeHead(204).end()
  clock.advance(10_000)
  await receiver.until(2)
  assert.deepEqual([receiver.received.length, silent.held.length, silent.ended()], [2, 8, 0])
})

test('a receiver with many host names delays others by no more than its accounts do', async () => {
  using silent = await startSilentReceiver()
  await using service = await startService({ flags: { 'webhook-networks': '127.0.0.0/8' } })
  const OWN = 200
  const arrived = (host: number) =>
    silent.held.filter(({ req }) => req.headers.host?.startsWith(`127.0.0.${host}:`)).length
  const fill = async (account: number, search: string, firstHost: number) => {
    const { key } = await service.newKey(`comodin-${account}`, 'domainwatch')
    const hosts = Array.from({ length: 16 }, (_, i) => firstHost + i)
    await Promise.all(hosts.map((host) => watch(service, { search, url: silent.url(host) }, key)))
    return key
  }
  for (let account = 0; account < 16; account++) await fill(account, 'mudo', 2 + 16 * (account % 8))
  const later = [await fill(16, 'tarde', 130), await fill(17, 'tarde', 146), service.domainKey]
  for (const search of ['primero', 'tarde']) await watch(service, { search, url: silent.url(OWN) })

  await stored(service, [record('primero')])
  await eventually(() => arrived(OWN) === 1)
  await stored(service, [record('mudo')])
  await eventually(() => silent.held.length === 256, 'all slots are taken')
  await stored(service, [record('tarde')])
  for (const key of later)
    await eventually(async () => (await getWatches(service, key)).every(({ pending }) => pending === 1))
  for (let freed = 1; freed <= later.length; freed++) {
    silent.held.at(freed)?.writeHead(204).end()
    await eventually(() => silent.held.length === 256 + freed)
  }
  assert.deepEqual([arrived(OWN), silent.ended()], [2, later.length])
})
