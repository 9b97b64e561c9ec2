import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import { sql } from '../../src/storage/database/sql.ts'
import type { ImageClient } from '../support/images.ts'
import {
  answerOf,
  NO_IMAGE,
  plain,
  postBytes,
  problem,
  solid,
  stamped,
  UNEDITED,
  type Answer,
} from '../support/images.ts'
import { picture, startImages } from '../support/image-service.ts'
import { ManualClock } from '../support/service.ts'

/** Seconds since 1970. */
const START = Date.parse('2026-01-05T00:00:00Z') / 1_000
const HOUR = 3_600
const SHARED = problem(403, 'La imagen también es de otra clave de la aplicación')

const clock = new ManualClock('2026-01-05T00:00:00Z')
const { service, newClient } = await startImages({ clock })
const app = await newClient('fotos')
const [one, other] = [
  await newClient('fotos', { scope: 'upload' }),
  await newClient('fotos', { scope: 'upload' }),
]

async function update(client: ImageClient, fields: Readonly<Record<string, unknown>>) {
  const answer = await answerOf(
    await fetch(client.endpoint('update'), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(fields),
    }),
  )
  await service.caughtUp()
  return answer
}

const toEdits = ({ body: { tags, meta, focus, public: isPublic } }: Answer) => ({
  tags,
  meta,
  focus,
  public: isPublic,
})

test('what is given changes, and everything else stays', async () => {
  const hash = await app.store(picture(), { name: 'antes.png' })
  const { body: before } = await app.get(hash)
  assert.deepEqual(toEdits(await app.get(hash)), UNEDITED)
  clock.advance(60_000)
  const edits = {
    name: 'después.png',
    expires: START + 9 * HOUR,
    tags: ['portada', 'verano'],
    meta: { sku: 'A-17', nested: [1, null] },
    focus: '0.25,1',
    public: 0,
  }
  const answer = await update(app, { hash, ...edits })
  assert.deepEqual(plain(answer), { status: 200, body: { ...before, ...edits } })
  assert.deepEqual((await app.get(hash)).body, answer.body)
  const { body: tagged } = await update(app, { hash, tags: '' })
  assert.deepEqual(tagged, { ...before, ...edits, tags: [] })
  const { body: reset } = await update(app, { hash, expires: '', focus: '', meta: {}, public: 1 })
  assert.deepEqual(reset, { ...before, name: 'después.png' })
  assert.deepEqual(plain(await update(app, { hash })), { status: 200, body: reset })
})

test('forms, with tags separated by commas and meta as text', async () => {
  const hash = await app.store(picture())
  const body = new URLSearchParams({ hash, tags: ' a, b ,a,', meta: '{"x":1}', focus: '.3333, 0.5' })
  const answer = await answerOf(await fetch(app.endpoint('update'), { method: 'POST', body }))
  assert.partialDeepStrictEqual(answer.body, { tags: ['a', 'b'], meta: { x: 1 }, focus: '0.333,0.5' })
})

const many = Array.from({ length: 21 }, (_, i) => `t${i}`)
for (const [name, value, takes] of [
  ['name', '', 'debe ser un texto de 1 a 1024 caracteres'],
  ['expires', START, 'debe ser un momento futuro, en segundos desde 1970'],
  ['tags', many, 'debe tener hasta 20 etiquetas de 1 a 60 caracteres, separadas por comas'],
  ['tags', ['a,b'], 'debe tener hasta 20 etiquetas de 1 a 60 caracteres, separadas por comas'],
  ['tags', ['a'.repeat(61)], 'debe tener hasta 20 etiquetas de 1 a 60 caracteres, separadas por comas'],
  ['tags', [7], 'debe tener hasta 20 etiquetas de 1 a 60 caracteres, separadas por comas'],
  ['meta', { x: 'ñ'.repeat(510) }, 'debe ser un objeto JSON de 1024 bytes como máximo'],
  ['meta', [1], 'debe ser un objeto JSON de 1024 bytes como máximo'],
  ['focus', '0.5', 'debe ser x,y: dos números de 0 a 1'],
  ['focus', '0.5,1.01', 'debe ser x,y: dos números de 0 a 1'],
  ['public', 2, 'debe ser un entero entre 0 y 1'],
] as const) {
  test(`${name} ${JSON.stringify(value).slice(0, 30)} is refused by update and upload`, async () => {
    const hash = await app.store(picture())
    const refusal = problem(400, `El parámetro ${name} ${takes}`)
    assert.deepEqual(plain(await update(app, { hash, [name]: value })), refusal)
    if (name !== 'name') assert.deepEqual(plain(await app.upload(picture(), { [name]: value })), refusal)
  })
}

test('an image that the application does not have', async () => {
  const foreign = await newClient('ajena')
  const hash = await foreign.store(picture())
  for (const wanted of [hash, 'x', ''])
    assert.deepEqual(plain(await update(app, { hash: wanted, name: 'mía' })), NO_IMAGE)
  assert.equal((await foreign.get(hash)).body['name'], 'foto.png')
  const soon = await app.store(picture(), { expires: Math.floor(clock.now() / 1_000) + HOUR })
  clock.advance(HOUR * 1_000)
  assert.deepEqual(plain(await update(app, { hash: soon, expires: '' })), NO_IMAGE)
})

test('a key of scope upload edits what only it uploaded', async () => {
  const own = await one.store(picture())
  assert.equal((await update(one, { hash: own, name: 'propia' })).body['name'], 'propia')
  assert.deepEqual(plain(await update(other, { hash: own, name: 'ajena' })), NO_IMAGE)
  for (const holder of [app, other]) {
    const bytes = picture()
    const hash = await holder.store(bytes, { name: 'primera.png', tags: ['suya'], public: 0 })
    assert.deepEqual(plain(await update(one, { hash, name: 'ajena' })), NO_IMAGE)
    await one.store(bytes, { name: 'ajena.png', tags: ['ajena'], focus: '0,0', public: 1 })
    assert.deepEqual(plain(await update(one, { hash, public: 1 })), SHARED)
    assert.partialDeepStrictEqual((await app.get(hash)).body, {
      name: 'primera.png',
      tags: ['suya'],
      focus: null,
      public: 0,
    })
    if (holder === other) await other.remove(hash)
    else continue
    assert.equal((await update(one, { hash, name: 'propia' })).body['name'], 'propia')
  }
  assert.equal((await update(app, { hash: own, name: 'de la aplicación' })).status, 200)
})

test('another upload of the same bytes changes only what it gives; an expired image keeps nothing', async () => {
  const bytes = picture()
  const info = { tags: ['a'], meta: { a: 1 }, focus: '0,1', public: 0 }
  const { body } = await app.upload(bytes, info)
  assert.partialDeepStrictEqual(body, info)
  const again = await app.upload(bytes, { tags: 'b', expires: Math.floor(clock.now() / 1_000) + HOUR })
  assert.partialDeepStrictEqual(again.body, { ...info, tags: ['b'] })
  clock.advance(HOUR * 1_000)
  const anew = await app.upload(bytes)
  assert.deepEqual(toEdits(anew), UNEDITED)
})

test('a ticket fixes tags, and its visitors learn nothing of an image that was there', async () => {
  const minted = await app.call('POST', 'tickets', { tags: 'visita', uses: '2' })
  await service.caughtUp()
  const send = (bytes: Buffer) => postBytes(String(minted.body['url']), bytes)
  const fresh = await send(picture())
  assert.deepEqual(fresh.body['tags'], ['visita'])
  assert.deepEqual((await app.get(String(fresh.body['hash']))).body['tags'], ['visita'])
  const bytes = picture()
  const edits = { tags: ['propia'], meta: { costo: 7 }, focus: '0,0', public: 0 }
  const hash = await app.store(bytes, edits)
  assert.deepEqual(toEdits(await send(bytes)), { ...UNEDITED, tags: ['visita'] })
  assert.partialDeepStrictEqual((await app.get(hash)).body, edits)
})

const coloured = (background: string) => solid(40, 30, background, 4).png().toBuffer()
for (const [background, color, dark] of [
  ['#c81e0a', '#c81e0a', 1],
  ['#fff', '#ffffff', 0],
  ['rgba(1, 2, 3, 0)', null, null],
] as const) {
  test(`the colour of ${background}`, async () => {
    const { body } = await app.upload(await coloured(background))
    assert.partialDeepStrictEqual(body, { color, dark })
    assert.partialDeepStrictEqual((await app.get(String(body['hash']))).body, { color, dark })
  })
}

test('the colour is the mean of the visible pixels', async () => {
  const three = await solid(40, 30, 'rgba(0, 255, 0, 0)', 4)
    .composite([
      { input: await solid(20, 30, '#0000ff').png().toBuffer(), left: 0, top: 0 },
      { input: await solid(10, 30, '#ff0000').png().toBuffer(), left: 20, top: 0 },
    ])
    .png()
    .toBuffer()
  assert.partialDeepStrictEqual((await app.upload(three)).body, { color: '#5500aa', dark: 1 })
})

test('the colour of an image that was stored without one is that of its ThumbHash', async () => {
  const bytes = stamped(await coloured('#c81e0a'), 'anterior')
  const hash = await app.store(bytes)
  const { database } = service.app.context
  await database.transaction((tx) => tx.run(sql`UPDATE blobs SET color = NULL WHERE hash = ${hash}`))
  const { color, dark } = (await app.get(hash)).body
  const levels = Buffer.from(String(color).slice(1), 'hex')
  for (const [i, level] of [0xc8, 0x1e, 0x0a].entries())
    assert.ok(Math.abs((levels[i] ?? -99) - level) <= 8, String(color))
  assert.equal(dark, 1)
})

test('a private image needs a signature, unless another application holds the same bytes', async () => {
  const bytes = picture()
  const hash = await app.store(bytes, { public: 0 })
  const refusal = problem(403, 'La imagen solo se entrega por enlaces firmados')
  assert.deepEqual(plain(await answerOf(await app.link(hash))), refusal)
  await update(app, { hash, public: 1 })
  assert.equal((await app.link(hash)).status, 200)
  await update(app, { hash, public: 0 })
  assert.equal((await app.link(hash)).status, 403)
  const second = await newClient('segunda')
  await second.store(bytes)
  await service.caughtUp()
  assert.equal((await app.link(hash)).status, 200)
  await second.remove(hash)
  await service.caughtUp()
  assert.equal((await app.link(hash)).status, 403)
})

test('g_auto keeps the stored focus, and its links are revalidated', async () => {
  const halves = await solid(60, 20, '#ff0000')
    .composite([{ input: await solid(20, 20, '#0000ff').png().toBuffer(), left: 40, top: 0 }])
    .png()
    .toBuffer()
  const hash = await app.store(halves)
  const link = async (m: string) => {
    const response = await app.link(`${hash}&m=${m}`)
    assert.equal(response.status, 200)
    const { dominant } = await sharp(await response.arrayBuffer()).stats()
    return {
      etag: response.headers.get('etag'),
      cache: response.headers.get('cache-control'),
      side: dominant.b > dominant.r ? 'blue' : 'red',
    }
  }
  const etags: (string | null)[] = []
  for (const [focus, side] of [
    ['', undefined],
    ['0,0.5', 'red'],
    ['1,0.5', 'blue'],
  ] as const) {
    await update(app, { hash, focus })
    const found = await link('20x20,c_fill,g_auto')
    assert.equal(found.cache, 'public, max-age=86400')
    if (side !== undefined) assert.equal(found.side, side)
    etags.push(found.etag)
    // Before the crop, what is right goes down, left or up.
    if (side === undefined) continue
    for (const turn of ['r_90', 'r_180', 'r_270', 'flop', 'flip', 'r_90,flip'])
      assert.equal((await link(`20x20,c_fill,g_auto,${turn}`)).side, side, turn)
  }
  assert.equal(new Set(etags).size, 3)
  // In a part, the focus is where it is in the whole.
  await update(app, { hash, focus: '0.62,0.5' })
  assert.equal((await link('4x20,c_fill,g_auto,rect_36_0_24_20')).side, 'red')
  assert.equal((await link('4x20,c_fill,g_auto,rel_0.6_0_0.4_1')).side, 'red')
  const { headers } = await app.link(`${hash}&m=20x20,c_fill,g_xy_1_0.5`)
  assert.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable')
})
