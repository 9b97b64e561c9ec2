/** clients/js against the vectors and a running service. */
import assert from 'node:assert/strict'
import { connect, createServer, type Socket } from 'node:net'
import { after, test } from 'node:test'
import {
  alias,
  Catalejo,
  CatalejoError,
  MODIFIERS,
  sign,
  signSrcset,
  srcset,
  uploadWithTicket,
  url,
  verifyWebhook,
  WebhookError,
} from '../../clients/js/index.ts'
import { startBusyServer, startShop, VECTORS } from '../support/clients.ts'
import { EventReader } from '../support/event-reader.ts'
import { expectedHash, gradient, noise } from '../support/images.ts'
import { listen } from '../support/listen.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'

const { service, key, secret } = await startShop({ 'webhook-networks': '127.0.0.0/8' })
after(() => service[Symbol.asyncDispose]())

const INFO = { name: 'foto.png', mime: 'image/png', ip: '200.1.2.3' }

const isRefused = (status: number, code: string) => (error: unknown) => {
  assert.ok(error instanceof CatalejoError)
  assert.deepEqual([error.status, error.code], [status, code])
  return true
}

const record = (domain: string) => ({
  domain,
  length: domain.length,
  reserve: 0 as const,
  status: 1 as const,
  date_reg: '2025-12-31 14:30:34',
})

test('links, signatures and webhooks are those of the vectors', async () => {
  assert.deepEqual(MODIFIERS, VECTORS.modifiers)
  for (const each of VECTORS.aliases) assert.equal(alias(each.account, each.name), each.alias)
  for (const each of VECTORS.urls) assert.equal(url(each.base, each.image, each.modifiers), each.url)
  for (const each of VECTORS.srcsets) {
    assert.equal(srcset(each.base, each.image, each.widths, each.modifiers), each.srcset)
    assert.equal(await signSrcset(each.srcset, VECTORS.secret, each), each.signed)
  }
  for (const each of VECTORS.signatures)
    assert.equal(await sign(each.link, VECTORS.secret, each), each.signed)
  for (const link of VECTORS.refused) await assert.rejects(sign(link, VECTORS.secret), TypeError, link)
  for (const { name, valid, now, headers, body } of VECTORS.webhooks)
    for (const each of [
      headers,
      new Headers(Object.entries(headers).filter(([, value]) => /^[ -~]*$/.test(value))),
    ]) {
      const verified = verifyWebhook(body, each, VECTORS.webhookSecret, { now })
      if (valid) assert.deepEqual(await verified, JSON.parse(body), name)
      else await assert.rejects(verified, WebhookError, name)
    }
})

test('images are uploaded, listed by pages, signed and deleted', async () => {
  const catalejo = new Catalejo({ url: service.url, key })
  const pictures = await Promise.all(
    [1, 2, 3].map((side) =>
      gradient(600, 100 * side)
        .png()
        .toBuffer(),
    ),
  )
  for (const picture of pictures) {
    const image = new File([picture], 'ñandú.png', { type: 'image/png' })
    const { hash } = await catalejo.call('POST /api/v1/imagestore/upload', { image, info: INFO })
    assert.equal(hash, expectedHash(picture))
  }
  const [first = Buffer.of()] = pictures
  const hash = expectedHash(first)
  const again = { image: first.toString('base64'), info: { ...INFO, name: 'otra.png' } }
  assert.equal((await catalejo.call('POST /api/v1/imagestore/upload', again)).hash, hash)
  assert.equal((await catalejo.call('GET /api/v1/imagestore/get', { hash })).name, 'otra.png')

  const listed: string[] = []
  for await (const page of catalejo.pages('GET /api/v1/imagestore/list', { limit: 1, sort: 'asc' })) {
    assert.equal(page.total, 3)
    listed.push(...page.data.map((image) => image.hash))
  }
  assert.deepEqual(listed.toSorted(), pictures.map(expectedHash).toSorted())

  await catalejo.call('POST /api/v1/imagestore/alias', { name: 'portada', hash })
  for (const image of [hash, alias('tienda', 'portada')]) {
    const link = url(service.url, image, { f: 'webp', c: 'fill', w: 90, h: 90 })
    assert.equal((await fetch(link)).status, 403)
    const signed = await fetch(await sign(link, secret, { expires: 4_000_000_000 }))
    assert.deepEqual([signed.status, signed.headers.get('content-type')], [200, 'image/webp'])
  }

  assert.equal((await catalejo.call('DELETE /api/v1/imagestore/delete', { hash })).hash, hash)
  const gone = catalejo.call('GET /api/v1/imagestore/get', { hash })
  await assert.rejects(gone, isRefused(404, 'image_not_found'))
})

test('parameters and answers have types', () => {
  const catalejo = new Catalejo({ url: 'http://127.0.0.1', key: 'x' })
  assert.ok([
    async () => (await catalejo.call('GET /api/v1/imagestore/list', { order: 'size' })).data[0]?.link.length,
    () => catalejo.call('GET /api/v1/imagestore/list', { group: true, limit: 10 }),
    () => catalejo.call('POST /api/v1/imagestore/trash', { hash: '', restore: true }),
    () => catalejo.call('POST /api/v1/imagestore/update', { hash: '', tags: ['a'], meta: { sku: 1 } }),
    () => catalejo.call('POST /api/v1/imagestore/tickets', { tags: ['a'], eager: ['w_300'], uses: 2 }),
    () => catalejo.call('POST /api/v1/domainwatch/queue', { reserve: true, limit: 10 }),
    () => catalejo.call('POST /api/v1/domainwatch/bulk', { set: { seen: 1 }, data: ['casa'], rev: '1' }),
    () => catalejo.call('POST /api/v1/admin/limits', { account: '', max_images: 10, max_bytes: 'none' }),
    // @ts-expect-error Tags are texts.
    () => catalejo.call('POST /api/v1/imagestore/update', { hash: '', tags: [1] }),
    // @ts-expect-error A list has no such order.
    () => catalejo.call('GET /api/v1/imagestore/list', { order: 'color' }),
    // @ts-expect-error An image has a name.
    () => catalejo.call('POST /api/v1/imagestore/upload', { image: '', info: { mime: 'image/png', ip: '' } }),
    // @ts-expect-error There is no such operation.
    () => catalejo.call('POST /api/v1/imagestore/list'),
  ])
})

test('a visitor uploads with a ticket', async () => {
  const visited = await service.newKey('visitas', 'imagestore')
  const catalejo = new Catalejo({ url: service.url, key: visited.key })
  const ticket = await catalejo.call('POST /api/v1/imagestore/tickets', { types: 'image/png', uses: 2 })
  const picture = await noise(20, 20).png().toBuffer()
  const image = new Blob([picture], { type: 'image/png' })
  const { hash } = await uploadWithTicket(ticket.url, image, { name: 'visita.png' })
  assert.equal(hash, expectedHash(picture))
  assert.equal((await catalejo.call('GET /api/v1/imagestore/get', { hash })).name, 'visita.png')
  await uploadWithTicket(ticket.url, image)
  await assert.rejects(uploadWithTicket(ticket.url, image), isRefused(403, 'ticket_spent'))
})

test('a busy service is asked again when it says, unless that is too late', async () => {
  await using busy = await startBusyServer()
  const catalejo = new Catalejo({ url: `${busy.url}/`, key: 'x' })
  assert.deepEqual((await catalejo.call('GET /api/v1/imagestore/list')).data, [])
  await assert.rejects(catalejo.call('GET /api/v1/imagestore/stats'), isRefused(503, 'overloaded'))
  busy.assertPatience()
})

/** Passes connections on to the service, until they are all broken. */
async function startBreakableLine(target: string) {
  const sockets = new Set<Socket>()
  const server = createServer((incoming) => {
    const outgoing = connect(Number(new URL(target).port), '127.0.0.1')
    for (const socket of [incoming, outgoing]) sockets.add(socket.on('error', () => {}))
    incoming.pipe(outgoing).pipe(incoming)
  })
  const port = await listen(server)
  const cut = () => sockets.forEach((socket) => socket.destroy())
  return {
    url: `http://127.0.0.1:${port}`,
    cut,
    [Symbol.dispose]() {
      server.close()
      cut()
    },
  }
}

test('a stream of events continues where it broke', async () => {
  using line = await startBreakableLine(service.url)
  const catalejo = new Catalejo({ url: service.url, key: service.domainKey })
  const overLine = new Catalejo({ url: line.url, key: service.domainKey })
  const add = (domain: string) => catalejo.call('POST /api/v1/domainwatch/add', { data: [record(domain)] })
  const position = await EventReader.open(service, { api: service.domainKey })
  await add('uno')
  const id = (await position.next())?.id
  position.close()
  await add('dos')
  const end = new AbortController()
  const seen: string[] = []
  for await (const { event, data } of overLine.events({}, { lastEventId: id, signal: end.signal })) {
    assert.ok(event === 'added')
    seen.push(data.record.name)
    if (seen.length === 1) {
      line.cut()
      await add('tres')
    } else end.abort()
  }
  assert.deepEqual(seen, ['dos', 'tres'])
  const wrong = new Catalejo({ url: service.url, key: 'x' }).events()
  await assert.rejects(wrong.next(), isRefused(401, 'key_invalid'))
})

test('a webhook of the service is verified', async () => {
  using receiver = await WebhookReceiver.start()
  const catalejo = new Catalejo({ url: service.url, key: service.domainKey })
  const watch = { name: 'ñ', url: receiver.url, max_length: 4 }
  const { id, secret } = await catalejo.call('POST /api/v1/domainwatch/watches', watch)
  await catalejo.call('POST /api/v1/domainwatch/watches/test', { id })
  const [delivered] = receiver.received
  assert.ok(delivered)
  const headers = {
    'webhook-id': delivered.id,
    'webhook-timestamp': String(delivered.timestamp),
    'webhook-signature': delivered.signature,
  }
  const webhook = await verifyWebhook(delivered.text, headers, secret ?? '')
  assert.ok(webhook.type === 'watch.test')
  assert.equal(webhook.data.watch.name, 'ñ')
})
