import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAccountPolicies } from '../../src/imagestore/account-policy.ts'
import { eraseAddresses, sweepExpired } from '../../src/imagestore/image-records.ts'
import { sql } from '../../src/storage/database/sql.ts'
import {
  answerOf,
  expectedHash,
  gradient,
  ImageClient,
  NO_IMAGE,
  plain,
  problem,
  stamped,
} from '../support/images.ts'
import { startImages } from '../support/image-service.ts'
import { limited } from '../support/key-limits.ts'
import { ManualClock } from '../support/service.ts'

const png = await gradient(20, 10).png().toBuffer()
const image = (text: string) => stamped(png, text)
const size = image('0000').length
const DAY_MS = 86_400_000

const clock = new ManualClock('2026-03-01T12:00:00Z')
const seconds = () => Math.floor(clock.now() / 1000)
let accounts = 0
const { service, newClient } = await startImages({ clock })

async function application(limits: { max_bytes?: number; max_images?: number } = {}) {
  const name = `cuenta ${accounts++}`
  const client = await newClient(name)
  const { accounts: known, database } = service.app.context
  const id = (await known.find(name))?.id ?? 0
  const settle = (change: typeof limits) => createAccountPolicies(database).change({ id, name }, change)
  if (Object.keys(limits).length > 0) await settle(limits)
  const stats = async (query: Readonly<Record<string, string>> = {}) => {
    const answer = await client.call('GET', 'stats', query)
    // Those of all applications, so of all tests here.
    const { derivatives: _, ...body } = answer.body
    return body
  }
  return { name, client, id, stats, settle }
}

test('concurrent uploads fill exactly the permitted number of images', async () => {
  const { client, stats } = await application({ max_images: 5 })
  const answers = await Promise.all(Array.from({ length: 16 }, (_, i) => client.upload(image(`a${i}`))))
  const refused = problem(403, 'La aplicación ya tiene el máximo de 5 imágenes')
  assert.equal(answers.filter(({ status }) => status === 200).length, 5)
  for (const answer of answers) {
    if (answer.status === 200) continue
    assert.deepEqual([plain(answer), answer.reason], [refused, 'quota'])
  }
  assert.equal((await client.list()).body['count'], 5)
  assert.equal((await stats())['images'], 5)
  const [mine] = answers.filter(({ status }) => status === 200)
  const again = answers.indexOf(mine ?? assert.fail())
  assert.equal((await client.upload(image(`a${again}`))).status, 200, 'one that is there takes no more room')
  await client.remove(String(mine?.body['hash']))
  assert.equal((await client.upload(image('otra'))).status, 200)
  assert.deepEqual(plain(await client.upload(image('una más'))), refused)
})

test('concurrent uploads fill exactly the permitted bytes, shared ones included', async () => {
  const { client } = await application({ max_bytes: 3 * size + 10 })
  const other = (await application()).client
  const names = Array.from({ length: 10 }, (_, i) => `b${i}xx`)
  for (const name of names) assert.equal((await other.upload(image(name))).status, 200)
  const answers = await Promise.all(names.map((name) => client.upload(image(name))))
  assert.equal(answers.filter(({ status }) => status === 200).length, 3)
  assert.deepEqual(
    plain(answers.find(({ status }) => status !== 200) ?? assert.fail()),
    problem(413, `La imagen no cabe: la aplicación ocupa ${3 * size} de un máximo de ${3 * size + 10} bytes`),
  )
  const links = await Promise.all(names.map((name) => other.link(expectedHash(image(name)))))
  assert.deepEqual(
    links.map(({ status }) => status),
    names.map(() => 200),
    'refusals take nothing from others',
  )
})

test('a key that sees only its own images learns nothing of the others from a full quota', async () => {
  const { name, client, settle } = await application({ max_bytes: size })
  assert.equal((await client.upload(image('otra'))).status, 200)
  const { key } = await service.newKey(name, 'imagestore', limited({ scope: 'upload' }))
  const uploads = new ImageClient(service.url, key)
  const full = await uploads.upload(image('suya'))
  assert.deepEqual([plain(full), full.reason], [problem(413, 'La imagen no cabe en la aplicación'), 'quota'])
  await settle({ max_bytes: 10 * size, max_images: 1 })
  assert.deepEqual(
    plain(await uploads.upload(image('suya'))),
    problem(403, 'La aplicación ya tiene el máximo de imágenes'),
  )
})

test('expired images are gone from that second, everywhere, and free their quota', async () => {
  const { client, stats } = await application({ max_images: 2 })
  const expires = seconds() + 60
  const hash = expectedHash(image('breve'))
  assert.equal((await client.upload(image('breve'), { name: 'breve.png', expires })).status, 200)
  await client.upload(image('larga'))
  const derived = `${hash}&m=w_10`
  assert.equal((await client.get(hash)).body['expires'], expires)
  for (const path of [hash, derived, hash, derived]) {
    const link = await client.link(path)
    await link.arrayBuffer()
    assert.deepEqual([link.status, link.headers.get('cache-control')], [200, 'public, max-age=60'])
  }
  clock.advance(59_000)
  assert.equal((await client.link(derived)).headers.get('cache-control'), 'public, max-age=1')
  assert.equal((await client.list()).body['count'], 2)
  const similar = () => fetch(client.endpoint('similar', { hash }))
  assert.equal((await similar()).status, 200)
  assert.equal((await stats())['images'], 2)

  clock.advance(1_000)
  assert.deepEqual(plain(await client.get(hash)), NO_IMAGE)
  assert.equal((await client.list()).body['count'], 1)
  assert.equal((await similar()).status, 404)
  for (const path of [hash, derived]) {
    const link = await fetch(`${client.url}/i/${path}`, { headers: { 'if-none-match': '*' } })
    assert.deepEqual(plain(await answerOf(link)), NO_IMAGE)
  }
  assert.deepEqual(plain(await client.remove(hash)), NO_IMAGE)
  const { images, bytes, kinds } = await stats()
  assert.deepEqual(
    [images, bytes, kinds],
    [1, image('larga').length, [{ mime: 'image/png', images: 1, bytes }]],
  )
  assert.equal((await client.upload(image('en su lugar'))).status, 200)
  assert.equal((await client.upload(image('breve'))).status, 403)
})

test('the sweep removes expired images, but none that was uploaded again or that another application has', async () => {
  const { client } = await application()
  const other = (await application()).client
  const expires = seconds() + 10
  for (const name of ['ida', 'vuelta', 'ajena']) await client.upload(image(name), { expires })
  await other.upload(image('ajena'), { expires: expires + 100 })
  clock.advance(10_000)
  await client.upload(image('vuelta'))
  await service.app.context.database.ping()
  await sweep()
  const status = async (name: string) => (await client.link(expectedHash(image(name)))).status
  assert.deepEqual([await status('ida'), await status('vuelta'), await status('ajena')], [404, 200, 200])
  const rows = await service.app.context.database.all(blobs(expectedHash(image('ida'))))
  assert.equal(rows.length, 0)
  clock.advance(100_000)
  assert.equal(await status('ajena'), 404)
  assert.equal((await other.list()).body['count'], 0)
})

async function sweep(): Promise<void> {
  await sweepExpired(service.app.context.database, clock)
}

const moment = 'un momento futuro, en segundos desde 1970'
for (const [what, expires, expected] of [
  ['now', () => seconds(), moment],
  ['a text', () => String(seconds() + 60), 'un número, no un texto'],
  ['a fraction', () => seconds() + 60.5, moment],
  ['past the year 9999', () => 253_402_300_800, moment],
  ['true', () => true, 'un número, no un valor lógico'],
  ['an array', () => [seconds() + 60], 'un número, no un arreglo'],
] as const) {
  test(`expires is refused: ${what}`, async () => {
    const { client } = await application()
    const refused = problem(400, `El parámetro expires debe ser ${expected}`)
    assert.deepEqual(plain(await client.upload(image('mala'), { expires: expires() })), refused)
    assert.equal((await client.list()).body['count'], 0)
  })
}

test('stats by kind and by day', async () => {
  const { client, stats, settle } = await application()
  assert.deepEqual(await stats(), {
    status: 200,
    images: 0,
    bytes: 0,
    trash: { images: 0, bytes: 0 },
    max_images: null,
    max_bytes: null,
    kinds: [],
    days: [],
  })
  const jpeg = await gradient(20, 10).jpeg().toBuffer()
  await client.upload(image('d1'))
  await client.upload(jpeg)
  const first = new Date(clock.now()).toISOString().slice(0, 10)
  clock.advance(DAY_MS)
  const second = new Date(clock.now()).toISOString().slice(0, 10)
  await client.upload(image('d2'))
  await client.upload(image('d1'))
  await settle({ max_bytes: 1_000_000 })
  const pngs = image('d1').length + image('d2').length
  const body = {
    status: 200,
    images: 3,
    bytes: pngs + jpeg.length,
    trash: { images: 0, bytes: 0 },
    max_images: null,
    max_bytes: 1_000_000,
    kinds: [
      { mime: 'image/jpeg', images: 1, bytes: jpeg.length },
      { mime: 'image/png', images: 2, bytes: pngs },
    ],
    days: [
      { day: second, images: 2, bytes: pngs },
      { day: first, images: 1, bytes: jpeg.length },
    ],
  }
  assert.deepEqual(await stats(), body)
  assert.deepEqual(await stats({ days: '1' }), { ...body, days: body.days.slice(0, 1) })
  await client.remove(expectedHash(jpeg))
  assert.deepEqual((await stats())['days'], body.days.slice(0, 1))
})

test("an uploader's address is in no response, and is erased after its days without a change", async () => {
  const { client, id, stats } = await application()
  const { database } = service.app.context
  const addresses = async () => (await database.all(getAddresses(id))).map(({ ip }) => ip)
  await client.upload(image('vieja'), { ip: '203.0.113.77' })
  clock.advance(90 * DAY_MS)
  await client.upload(image('joven'), { ip: '203.0.113.78' })
  assert.deepEqual(await addresses(), ['203.0.113.77', '203.0.113.78'])
  clock.advance(1_000)
  await eraseAddresses(database, clock, 90)
  assert.deepEqual(await addresses(), ['', '203.0.113.78'])
  const hash = expectedHash(image('vieja'))
  const answers = [await client.get(hash), await client.list(), await client.call('GET', 'similar', { hash })]
  assert.doesNotMatch(JSON.stringify([answers, await stats()]), /203\.0\.113/)

  // A concurrent sweep of the service is detected, and the test repeats the step.
  let isUnannounced = false
  for (let attempt = 0; attempt < 10 && !isUnannounced; attempt++) {
    await client.upload(image(`otra ${attempt}`), { ip: '203.0.113.79' })
    clock.advance(90 * DAY_MS + 1_000)
    const head = database.version('image')
    await eraseAddresses(database, clock, 90)
    isUnannounced = database.version('image') === head
  }
  assert.ok(isUnannounced, 'the erasure of addresses is not announced')
  assert.ok((await addresses()).every((ip) => ip === ''))
})

test('bytes of another format and size than claimed are counted by their actual values', async () => {
  const { client, id, stats } = await application()
  const bytes = image('otra')
  assert.equal((await client.upload(bytes)).status, 200)
  assert.equal((await client.upload(image('más'))).status, 200)
  const before = await stats()
  const { database } = service.app.context
  const hash = expectedHash(bytes)
  const set = (mime: string, length: number) =>
    database.transaction((tx) =>
      tx.run(sql`UPDATE blobs SET mime = ${mime}, size = ${length} WHERE hash = ${hash}`),
    )
  const counted = () =>
    database.all(sql`
      SELECT mime, CAST(images AS INTEGER) AS images, CAST(bytes AS INTEGER) AS bytes
      FROM image_usage WHERE account_id = ${id} AND images > 0 ORDER BY mime`)
  await set('image/gif', 7)
  assert.deepEqual(
    (await counted()).map((row) => ({ ...Object(row) })),
    [
      { mime: 'image/gif', images: 1, bytes: 7 },
      { mime: 'image/png', images: 1, bytes: image('más').length },
    ],
  )
  assert.equal((await stats())['bytes'], 7 + image('más').length)
  await set('image/png', bytes.length)
  assert.deepEqual(await stats(), before)
})

const blobs = (hash: string) => sql<{ hash: string }>`SELECT hash FROM blobs WHERE hash = ${hash}`
const getAddresses = (accountId: number) => sql<{ ip: string }>`
  SELECT ip FROM images WHERE account_id = ${accountId} ORDER BY date`
