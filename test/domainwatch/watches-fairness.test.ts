import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import { after, test } from 'node:test'
import { record, stored } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http.ts'
import { listen } from '../support/listen.ts'
import { startService } from '../support/service.ts'
import { removeWatch, watch, WATCHES } from '../support/watches.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'

/** Accepts webhooks on every loopback address and answers none until it is released. */
async function startSilentReceiver() {
  const held: ServerResponse[] = []
  let ended = 0
  let isReleased = false
  const server = createServer((request, response) => {
    request.resume()
    if (isReleased) return void response.writeHead(204).end()
    held.push(response)
    response.on('close', () => ended++)
  })
  const port = await listen(server, '0.0.0.0')
  return {
    url: (host: number) => `http://127.0.0.${host}:${port}/`,
    held,
    ended: () => ended,
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

const service = await startService({ flags: { 'webhook-networks': '127.0.0.0/8' } })
const otherKey = (await service.newKey('otra', 'domainwatch')).key
after(() => service[Symbol.asyncDispose]())

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
  assert.ok(receiver.received.length >= passed && receiver.received.length <= replies.length - limited.length)
  const [refused] = limited
  assert.deepEqual(refused?.body, { status: 429, msg: 'Demasiadas solicitudes' })
  assert.match(refused?.headers.get('retry-after') ?? '', /^[1-6]$/)
  assert.deepEqual([silent.held.length, silent.ended()], [2, 0])
  silent.release()
  const statuses = (await Promise.all(mine)).map(({ status }) => status)
  assert.deepEqual(new Set(statuses), new Set([200, 503]))
  assert.equal(statuses.filter((status) => status === 503).length >= 3, true, 'four may wait')
})
