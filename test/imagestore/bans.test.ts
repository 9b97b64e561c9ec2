import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import type { ImageClient } from '../support/images.ts'
import {
  expectedHash,
  gradient,
  noise,
  plain,
  postBytes,
  problem,
  solid,
  stamped,
} from '../support/images.ts'
import { startImages } from '../support/image-service.ts'
import { ManualClock } from '../support/service.ts'

const BANNED = problem(403, 'La imagen está bloqueada')

const clock = new ManualClock('2026-01-05T00:00:00Z')
let app: ImageClient

const { service, newClient } = await startImages({ clock })
const picture = await noise(40, 40).png().toBuffer()

async function bans(method: string, fields: Readonly<Record<string, string>> = {}, client = app) {
  const answer = await client.call(method, 'bans', fields)
  await service.caughtUp()
  return answer
}

async function assertBanned(bytes: Uint8Array, client = app) {
  const answer = await client.upload(bytes)
  assert.deepEqual(plain(answer), BANNED)
  assert.deepEqual([answer.code, answer.reason], ['image_banned', 'banned'])
}

test('what looks like a banned image is refused until the ban is lifted', async () => {
  app = await newClient('tienda')
  const { body: image } = await app.upload(picture)
  await service.caughtUp()
  const { status, body: ban } = await bans('POST', { hash: String(image['hash']) })
  const { id } = ban
  const described = {
    id,
    hash: image['hash'],
    dhash: image['dhash'],
    distance: 4,
    date: clock.now() / 1_000,
  }
  assert.deepEqual({ status, ban }, { status: 200, ban: { status: 200, ...described } })
  assert.match(String(id), /^[\w-]{12}$/)
  assert.deepEqual(plain(await bans('GET')).body, { status: 200, count: 1, data: [described] })

  await assertBanned(picture)
  // Bytes that nobody has stored, which look like it.
  const smaller = await sharp(picture).webp({ quality: 80 }).toBuffer()
  await assertBanned(smaller)
  const other = await newClient('otra')
  assert.equal((await other.upload(smaller)).status, 200)
  // They are stored now, but by another application.
  await assertBanned(smaller)
  assert.equal((await app.upload(await gradient(40, 40).png().toBuffer())).status, 200)
  assert.equal((await app.get(String(image['hash']))).status, 200)

  const elsewhere = await bans('DELETE', { id: String(id) }, other)
  assert.deepEqual(plain(elsewhere), problem(404, 'El bloqueo no existe'))
  assert.deepEqual(plain(await bans('DELETE', { id: String(id) })).body, { status: 200, id })
  assert.deepEqual(plain(await bans('GET')).body, { status: 200, count: 0, data: [] })
  assert.equal((await app.upload(smaller)).status, 200)
})

test('a ticket refuses a banned picture, and keeps its use', async () => {
  app = await newClient('visitas')
  const bytes = stamped(picture, 'de una visita')
  const { body: image } = await app.upload(bytes)
  await service.caughtUp()
  assert.equal((await bans('POST', { hash: String(image['hash']) })).status, 200)
  const minted = await app.call('POST', 'tickets')
  await service.caughtUp()
  const send = (body: Uint8Array) => postBytes(String(minted.body['url']), body)
  const refused = await send(stamped(picture, 'con otros bytes'))
  assert.deepEqual(plain(refused), BANNED)
  assert.equal(refused.reason, 'banned')
  assert.equal((await send(await gradient(40, 40).png().toBuffer())).status, 200)
})

test('a dhash and a distance', async () => {
  app = await newClient('distancias')
  const { body: image } = await app.upload(picture)
  const dhash = String(image['dhash'])
  const flipped = (bits: bigint) => (BigInt(`0x${dhash}`) ^ bits).toString(16).padStart(16, '0')
  const near = flipped(0b10101n)
  const { body: strict } = await bans('POST', { dhash: near, distance: '2' })
  assert.partialDeepStrictEqual(strict, { hash: null, dhash: near, distance: 2 })
  assert.equal((await app.upload(picture)).status, 200)
  await bans('POST', { dhash: near, distance: '3' })
  await assertBanned(picture)
})

test('pictures without contrast are banned by their bytes only', async () => {
  app = await newClient('lisas')
  const flat = (colour: string) => solid(30, 30, colour).png().toBuffer()
  const red = await flat('red')
  const { body: image } = await app.upload(red)
  await service.caughtUp()
  const { body: ban } = await bans('POST', { hash: String(image['hash']) })
  assert.partialDeepStrictEqual(ban, { hash: image['hash'], dhash: null })
  await assertBanned(red)
  assert.equal((await app.upload(await flat('blue'))).status, 200)
  const { body: refused } = await bans('POST', { dhash: '0000000000000000' })
  assert.deepEqual(refused, {
    status: 400,
    msg: 'El parámetro dhash debe ser el de una imagen con contraste',
  })
})

test('bytes that the application never had', async () => {
  app = await newClient('previas')
  const { body: ban } = await bans('POST', { hash: expectedHash(picture) })
  assert.partialDeepStrictEqual(ban, { hash: expectedHash(picture), dhash: null })
  await assertBanned(picture)
  assert.equal((await app.upload(stamped(picture, 'otros bytes'))).status, 200)
})

test('what a ban takes', async () => {
  app = await newClient('errores')
  const both = { hash: expectedHash(picture), dhash: '00000000000000ff' }
  for (const fields of [{}, both])
    assert.deepEqual(
      plain(await bans('POST', fields)),
      problem(400, 'La solicitud debe llevar el parámetro hash o el parámetro dhash'),
    )
  for (const [fields, name] of [
    [{ hash: 'x' }, 'hash'],
    [{ dhash: 'x' }, 'dhash'],
    [{ dhash: '00000000000000ff', distance: '9' }, 'distance'],
  ] as const) {
    const { status, body } = await bans('POST', fields)
    assert.equal(status, 400)
    assert.match(String(body['msg']), new RegExp(`^El parámetro ${name} debe `))
  }
})

test('an application has 1,000 bans at most', async () => {
  app = await newClient('muchos')
  const account = "(SELECT id FROM accounts WHERE name = 'muchos')"
  const rows = Array.from({ length: 999 }, (_, i) => `(${account}, 'ban${i}', '${i}', 4, 0)`)
  await service.sql(
    `INSERT INTO image_bans (account_id, id, hash, distance, created_at) VALUES ${rows.join()}`,
  )
  const ban = (dhash: string) => bans('POST', { dhash: dhash.padStart(16, '0') })
  assert.equal((await ban('ff')).status, 200)
  assert.deepEqual(plain(await ban('1ff')), problem(409, 'La aplicación ya tiene 1000 bloqueos'))
  assert.equal((await bans('GET')).body['count'], 1_000)
})
