import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sweepExpired } from '../../src/imagestore/image-records.ts'
import { eventually } from '../support/eventually.ts'
import { gradient, ImageClient, noise, plain, problem } from '../support/images.ts'
import { startImages } from '../support/image-service.ts'
import { ManualClock, startService } from '../support/service.ts'
import { verify, WebhookReceiver, type Received } from '../support/webhook-receiver.ts'

const flags = { 'webhook-networks': '127.0.0.0/8' }

const dataIn = ({ body }: Received) => Object(body.data)

/** Every change received, as its type and what it is about. */
const heard = (receiver: WebhookReceiver): string[] =>
  receiver.received.flatMap((one) =>
    dataIn(one).changes.map(
      ({ hash, alias, name }: Record<string, unknown>) => `${one.body.type} ${String(alias ?? name ?? hash)}`,
    ),
  )

async function hooks(client: ImageClient, method: string, fields: Readonly<Record<string, string>> = {}) {
  return client.call(method, 'hooks', fields)
}

async function create(client: ImageClient, fields: Readonly<Record<string, string>>) {
  const { status, body } = await hooks(client, 'POST', fields)
  assert.equal(status, 200, JSON.stringify(body))
  return { id: String(body['id']), secret: String(body['secret']), body }
}

async function setAlias(client: ImageClient, name: string, hash: string) {
  assert.equal((await client.call('POST', 'alias', { name, hash })).status, 200)
}

const clock = new ManualClock(new Date().toISOString())

const { service, newClient } = await startImages({ clock, flags })

test('a hook is notified of all that happens to images and aliases, signed, in order', async () => {
  using receiver = await WebhookReceiver.start()
  const app = await newClient('tienda')
  const other = await newClient('otra')
  const { id, secret, body } = await create(app, { url: receiver.url })
  const events = ['image.created', 'image.updated', 'image.deleted', 'image.expired', 'alias.changed']
  assert.deepEqual(body, { status: 200, id, url: receiver.url, events, secret })

  const date = Math.floor(clock.now() / 1_000)
  const picture = await noise(20, 20).png().toBuffer()
  await other.upload(picture, { name: 'ajena.png' })
  const { body: image } = await app.upload(picture, { name: 'uno.png' })
  const hash = String(image['hash'])
  await setAlias(app, 'portada', hash)
  await setAlias(app, 'portada', hash)
  await app.call('POST', 'update', { hash, name: 'dos.png' })
  await app.remove(hash)
  await app.upload(picture, { name: 'breve.png', expires: date + 60 })
  clock.advance(60_000)
  await sweepExpired(service.app.context.database, clock)
  await eventually(
    () => heard(receiver).length === 7,
    () => JSON.stringify(heard(receiver)),
  )
  assert.deepEqual(heard(receiver).slice(0, 3), [
    'image.created uno.png',
    'alias.changed portada',
    'image.updated dos.png',
  ])
  // Deleting the image also removed its alias.
  assert.deepEqual(heard(receiver).slice(3, 5).toSorted(), ['alias.changed portada', 'image.deleted dos.png'])
  assert.deepEqual(heard(receiver).slice(5), ['image.created breve.png', 'image.expired breve.png'])
  for (const one of receiver.received) verify(secret, one)
  const [first, second] = receiver.received
  assert.ok(first !== undefined && second !== undefined)
  const at = first.body.timestamp
  assert.deepEqual(dataIn(first), {
    hook: { id },
    count: 1,
    changes: [{ at, hash, name: 'uno.png', date }],
  })
  const alias = { at: second.body.timestamp, alias: 'portada', hash, previous: null }
  assert.deepEqual(dataIn(second).changes, [alias])
  await eventually(async () => Object((await hooks(app, 'GET')).body['data'])[0].pending === 0)
  const { body: listed } = await hooks(app, 'GET')
  const [shown] = Object(listed['data'])
  assert.partialDeepStrictEqual(shown, { id, url: receiver.url, events, state: 'active', last_error: null })
  assert.ok(shown.last_delivery !== null && !('secret' in shown))
})

test('a hook is notified of the events that it asks for, many of them in few deliveries', async () => {
  using receiver = await WebhookReceiver.start()
  const app = await newClient('masiva')
  await create(app, { url: receiver.url, events: 'image.deleted, image.deleted' })
  const hashes: string[] = []
  for (let i = 0; i < 60; i++) {
    const { body } = await app.upload(
      await gradient(9 + i, 9)
        .png()
        .toBuffer(),
    )
    hashes.push(String(body['hash']))
  }
  for (const hash of hashes) await app.remove(hash)
  const received = () => receiver.received.flatMap((one) => dataIn(one).changes)
  await eventually(() => received().length === hashes.length)
  assert.deepEqual(
    received().map(({ hash }) => hash),
    hashes,
  )
  assert.deepEqual([...new Set(receiver.received.map(({ body }) => body.type))], ['image.deleted'])
  assert.ok(receiver.received.every((one) => dataIn(one).count <= 50))
})

test('an image is deleted when it enters the trash, and created when it leaves it', async () => {
  using receiver = await WebhookReceiver.start()
  const app = await newClient('ordenada')
  await create(app, { url: receiver.url })
  const { body: image } = await app.upload(await noise(15, 15).png().toBuffer(), { name: 'a.png' })
  const hash = String(image['hash'])
  const trash = async (fields: Readonly<Record<string, string>> = {}) =>
    assert.equal((await app.call('POST', 'trash', { hash, ...fields })).status, 200)
  await trash()
  await trash({ restore: '1' })
  await trash()
  // An upload takes it out of the trash as well.
  await app.upload(await noise(15, 15).png().toBuffer(), { name: 'c.png' })
  await trash()
  await app.remove(hash)
  await app.upload(await noise(16, 16).png().toBuffer(), { name: 'b.png' })
  await eventually(() => heard(receiver).at(-1) === 'image.created b.png')
  const events = ['created a', 'deleted a', 'created a', 'deleted a', 'created c', 'deleted c', 'created b']
  assert.deepEqual(
    heard(receiver),
    events.map((one) => `image.${one}.png`),
  )
})

test('a deleted hook gets nothing more; only its application can delete it', async () => {
  using receiver = await WebhookReceiver.start()
  using kept = await WebhookReceiver.start()
  const app = await newClient('breve')
  const other = await newClient('vecina')
  const { id } = await create(app, { url: receiver.url })
  const unknown = problem(404, 'El webhook no existe')
  assert.deepEqual(plain(await hooks(other, 'DELETE', { id })), unknown)
  assert.deepEqual(plain(await hooks(other, 'GET')).body, { status: 200, count: 0, data: [] })
  await create(app, { url: kept.url })
  assert.deepEqual(plain(await hooks(app, 'DELETE', { id })).body, { status: 200, id })
  assert.deepEqual(plain(await hooks(app, 'DELETE', { id })), unknown)
  await app.upload(await noise(13, 13).png().toBuffer())
  await kept.until(1)
  assert.equal(receiver.received.length, 0)
})

test('what cannot be a hook is refused', async () => {
  const app = await newClient('curiosa')
  const events = 'image.created, image.updated, image.deleted, image.expired, alias.changed'
  for (const [fields, expected] of [
    [{}, 'Falta el parámetro url'],
    [{ url: 'http://10.0.0.1/' }, 'El parámetro url debe llevar a una dirección pública'],
    [
      { url: 'ftp://127.0.0.1/' },
      'El parámetro url debe ser una dirección http:// o https:// sin usuario ni contraseña',
    ],
    [
      { url: 'http://127.0.0.1/', events: 'image.seen' },
      `El parámetro events debe ser una lista separada por comas de ${events}`,
    ],
  ] as const) {
    assert.deepEqual(plain(await hooks(app, 'POST', fields)), problem(400, expected))
  }
  for (let i = 0; i < 20; i++) await create(app, { url: `http://127.0.0.1:9/${i}` })
  const full = plain(await hooks(app, 'POST', { url: 'http://127.0.0.1:9/' }))
  assert.deepEqual(full, problem(409, 'La aplicación ya tiene 20 webhooks'))
  assert.equal(Object((await hooks(app, 'GET')).body).count, 20)
})

test('what happened while nothing was delivered is delivered after a restart', async () => {
  using receiver = await WebhookReceiver.start()
  await using first = await startService({ flags })
  const app = new ImageClient(first.url, first.imageKey)
  receiver.answer = () => {}
  const { secret } = await create(app, { url: receiver.url })
  const { body: image } = await app.upload(await noise(14, 14).png().toBuffer(), { name: 'antes.png' })
  await receiver.until(1)
  // The receiver has not answered, and the second change waits behind it.
  await app.remove(String(image['hash']))
  await first.stop()
  receiver.answer = (response) => void response.writeHead(204).end()
  await using _second = await startService({ flags, data: first.data })
  await receiver.until(3)
  const name = 'antes.png'
  assert.deepEqual(heard(receiver), [
    `image.created ${name}`,
    `image.created ${name}`,
    `image.deleted ${name}`,
  ])
  assert.equal(receiver.received[1]?.id, receiver.received[0]?.id)
  for (const one of receiver.received) verify(secret, one)
})
