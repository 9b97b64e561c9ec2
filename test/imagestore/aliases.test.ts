import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHmac } from 'node:crypto'
import { answerOf, bytesOf, ImageClient, NO_IMAGE, plain, problem } from '../support/images.ts'
import { picture, startImages } from '../support/image-service.ts'
import { ManualClock } from '../support/service.ts'
import { updateDelivery } from '../../src/imagestore/account-policy.ts'

const clock = new ManualClock('2026-01-05T00:00:00Z')
const ACCOUNT = 'Mi tienda, & más'
const SEGMENT = encodeURIComponent(ACCOUNT)

const { service, newClient } = await startImages({ clock })
const app = await newClient(ACCOUNT)

async function alias(name: string, hash: string, client = app) {
  const body = new URLSearchParams({ name, hash })
  const answer = await answerOf(await fetch(client.endpoint('alias'), { method: 'POST', body }))
  await service.caughtUp()
  return answer
}

test('a link by alias serves the image that has it now', async () => {
  const bytes = [picture(), picture()]
  const [one = '', two = ''] = await Promise.all(bytes.map((picture) => app.store(picture)))
  const link = `${service.url}/i/@${SEGMENT}/portada`
  assert.deepEqual(plain(await alias('portada', one)), {
    status: 200,
    body: { status: 200, name: 'portada', hash: one, link },
  })
  const first = await fetch(link)
  assert.deepEqual(await bytesOf(first), bytes[0])
  assert.deepEqual(
    ['cache-control', 'etag', 'cache-tag'].map((name) => first.headers.get(name)),
    ['public, max-age=60', `"${one}"`, `${one},@${SEGMENT}/portada`],
  )
  const etag = String(first.headers.get('etag'))
  assert.equal((await fetch(link, { headers: { 'if-none-match': etag } })).status, 304)
  for (const path of [
    `@${SEGMENT}/portada.webp`,
    `%40${SEGMENT}/portada&m=w_10,f_webp`,
    `@${SEGMENT}/portada?m=f_webp`,
  ]) {
    const response = await app.link(path)
    assert.equal(response.headers.get('content-type'), 'image/webp', path)
    assert.equal(response.headers.get('cache-control'), 'public, max-age=60')
  }
  assert.equal((await alias('portada', two)).status, 200)
  const second = await fetch(link, { headers: { 'if-none-match': etag } })
  assert.deepEqual([second.status, await bytesOf(second)], [200, bytes[1]])
  assert.equal((await app.link(`${one}`)).headers.get('cache-tag'), one)
})

test('an alias ends when it is removed, or its image', async () => {
  const hash = await app.store(picture())
  for (const name of ['a_1', 'b-2']) await alias(name, hash)
  assert.deepEqual(plain(await alias('a_1', '')), {
    status: 200,
    body: { status: 200, name: 'a_1', hash: null, link: null },
  })
  assert.deepEqual(plain(await answerOf(await app.link(`@${SEGMENT}/a_1`))), NO_IMAGE)
  assert.equal((await app.link(`@${SEGMENT}/b-2`)).status, 200)
  await app.remove(hash)
  await service.caughtUp()
  assert.equal((await app.link(`@${SEGMENT}/b-2`)).status, 404)
  const expires = Math.floor(clock.now() / 1_000) + 60
  const bytes = picture()
  await alias('breve', await app.store(bytes, { expires }))
  const other = await newClient('otra')
  await other.store(bytes)
  await service.caughtUp()
  assert.equal((await app.link(`@${SEGMENT}/breve`)).headers.get('cache-control'), 'public, max-age=60')
  clock.advance(60_000)
  // Another application still holds the same bytes.
  assert.equal((await app.link(`@${SEGMENT}/breve`)).status, 404)
})

test('signatures cover the alias', async () => {
  const hash = await app.store(picture(), { public: 0 })
  await alias('firmada', hash)
  const refusal = problem(403, 'La imagen solo se entrega por enlaces firmados')
  assert.deepEqual(plain(await answerOf(await app.link(`@${SEGMENT}/firmada`))), refusal)
  const updated = await updateDelivery(service.app.context.database, ACCOUNT, { secret: 'kept' })
  assert.ok(updated.kind === 'updated' && updated.secret !== null)
  const text = `@${SEGMENT}/firmada&m=w_10`
  const digest = createHmac('sha256', updated.secret).update(text).digest().subarray(0, 16)
  const link = `${text},sig_${digest.toString('base64url')}`
  await service.caughtUp()
  assert.equal((await app.link(link)).status, 200)
  assert.equal((await app.link(link.replace(`@${SEGMENT}/firmada`, hash))).status, 403)
})

test('aliases are listed by name, page by page, to their application only', async () => {
  const one = await newClient('lista')
  const hash = await one.store(picture())
  const names = ['-', '0', '_', 'a', 'b', 'z'.repeat(60)]
  for (const name of names) await alias(name, hash, one)
  const found: unknown[] = []
  for (let next: string | undefined = one.endpoint('aliases', { limit: '4' }); next !== undefined;) {
    const { body, headers } = await answerOf(await fetch(next))
    assert.ok(Array.isArray(body['data']) && body['count'] === body['data'].length)
    found.push(...body['data'])
    next = /^<(.+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1]
  }
  assert.deepEqual(
    found,
    names.map((name) => ({ name, hash, link: `${service.url}/i/@lista/${name}` })),
  )
  const theirs = (await app.call('GET', 'aliases')).body['data']
  assert.ok(Array.isArray(theirs) && theirs.every(({ name }) => !names.includes(name)))
})

test('an alias needs a name, and is removed only by an empty hash', async () => {
  const hash = await app.store(picture())
  await alias('quieta', hash)
  const without = async (fields: Record<string, string>) => {
    const body = new URLSearchParams(fields)
    return plain(await answerOf(await fetch(app.endpoint('alias'), { method: 'POST', body })))
  }
  assert.deepEqual(await without({ hash }), problem(400, 'Falta el parámetro name'))
  assert.deepEqual(await without({ name: 'quieta' }), problem(400, 'Falta el parámetro hash'))
  assert.equal((await fetch(`${service.url}/i/@${SEGMENT}/quieta`)).status, 200)
})

test('names, images and accounts that take no alias', async () => {
  const hash = await app.store(picture())
  const takes = 'El parámetro name debe tener de 1 a 60 de a-z, 0-9, guiones y guiones bajos'
  for (const name of ['', 'A', 'ñ', 'a.b', 'a'.repeat(61), 'a/b'])
    assert.deepEqual(plain(await alias(name, hash)), problem(400, takes))
  const foreign = new ImageClient(service.url, service.imageKey)
  assert.deepEqual(plain(await alias('ajena', hash, foreign)), NO_IMAGE)
  assert.deepEqual(plain(await alias('ajena', 'x')), NO_IMAGE)
  const slash = await newClient('a/b')
  const refusal = problem(400, 'Una cuenta con / en su nombre no tiene alias')
  assert.deepEqual(plain(await alias('a', await slash.store(picture()), slash)), refusal)
  for (const path of [
    '@',
    '@x',
    '@/a',
    '@nadie/a',
    `@${SEGMENT}/`,
    `@${SEGMENT}/a/b`,

    `@${SEGMENT}/portada.x.y`,
  ])
    assert.equal((await app.link(path)).status, 404, path)
})
