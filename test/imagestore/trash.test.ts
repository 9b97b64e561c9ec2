import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAccountPolicies } from '../../src/imagestore/account-policy.ts'
import { sweepExpired } from '../../src/imagestore/image-records.ts'
import { sql } from '../../src/storage/database/sql.ts'
import {
  gradient,
  ImageClient,
  NO_IMAGE,
  postBytes,
  noise,
  plain,
  problem,
  stamped,
} from '../support/images.ts'
import { startImages } from '../support/image-service.ts'
import { limited } from '../support/key-limits.ts'
import { ManualClock, onTwoNodes } from '../support/service.ts'

const DAY = 86_400

const clock = new ManualClock('2026-01-05T00:00:00Z')
let number = 0

const { service, newClient } = await startImages({ clock })
const picture = await noise(40, 40).png().toBuffer()

const seconds = () => Math.floor(clock.now() / 1_000)

/** A new application with one image, whose bytes are its own. */
async function application(info: Readonly<Record<string, unknown>> = {}) {
  const name = `galería ${++number}`
  const client = await newClient(name)
  const bytes = stamped(picture, name)
  const { body } = await client.upload(bytes, info)
  await service.caughtUp()
  return { name, client, bytes, hash: String(body['hash']) }
}

async function move(client: ImageClient, hash: string, fields: Readonly<Record<string, string>> = {}) {
  const answer = await client.call('POST', 'trash', { hash, ...fields })
  await service.caughtUp()
  return plain(answer)
}

async function sweep() {
  await sweepExpired(service.app.context.database, clock)
  await service.caughtUp()
}

const names = async (client: ImageClient, query: Readonly<Record<string, string>> = {}) => {
  const { count, total, data } = (await client.list(query)).body
  assert.ok(Array.isArray(data))
  assert.deepEqual([count, total], [data.length, data.length])
  return data.map((image: { readonly name: string }) => image.name)
}

const toStatus = async (client: ImageClient, path: string) => {
  const response = await client.link(path)
  await response.arrayBuffer()
  return response.status
}

test('hides an image from everything until it is restored as it was', async () => {
  const { name, client, bytes, hash } = await application({
    name: 'uno.png',
    tags: ['portada'],
    focus: '0.5,0.3',
  })
  await client.upload(await gradient(20, 10).jpeg().toBuffer(), { name: 'otra.jpg' })
  await client.call('POST', 'alias', { name: 'banner', hash })
  await service.caughtUp()
  const links = [hash, `${hash}&m=w_10`, `@${encodeURIComponent(name)}/banner`]
  for (const link of links) assert.equal(await toStatus(client, link), 200)
  const before = plain(await client.get(hash))
  const stats = async () => (await client.call('GET', 'stats')).body
  assert.partialDeepStrictEqual(await stats(), { images: 2, trash: { images: 0, bytes: 0 } })

  const trashed = { status: 200, body: { status: 200, hash, trashed_at: seconds() } }
  assert.deepEqual(await move(client, hash), trashed)
  clock.advance(1_000)
  assert.deepEqual(await move(client, hash), trashed, 'again')

  for (const link of links) assert.equal(await toStatus(client, link), 404, link)
  assert.deepEqual(plain(await client.get(hash)), NO_IMAGE)
  assert.deepEqual(await names(client), ['otra.jpg'])
  assert.deepEqual(await names(client, { search: 'uno' }), [])
  assert.deepEqual(await names(client, { group: '1' }), ['otra.jpg'])
  for (const query of [
    { hash },
    { dhash: String((await client.upload(stamped(picture, 'otra'))).body['dhash']) },
  ]) {
    const { body } = await client.call('GET', 'similar', query)
    assert.ok(query.hash === undefined ? body['count'] === 1 : body['msg'] === 'La imagen no existe')
  }
  assert.partialDeepStrictEqual(await stats(), { images: 2, trash: { images: 1, bytes: bytes.byteLength } })
  assert.deepEqual(plain(await client.call('POST', 'update', { hash, name: 'x' })), NO_IMAGE)
  assert.deepEqual(plain(await client.call('POST', 'alias', { name: 'a', hash })), NO_IMAGE)
  const inTrash = await client.list({ trash: '1', tag: 'portada' })
  assert.partialDeepStrictEqual(inTrash.body, {
    total: 1,
    data: [{ hash, trashed_at: trashed.body.trashed_at }],
  })

  assert.deepEqual(await move(client, hash, { restore: '1' }), {
    status: 200,
    body: { status: 200, hash, trashed_at: null },
  })
  for (const link of links) assert.equal(await toStatus(client, link), 200)
  assert.deepEqual(plain(await client.get(hash)), before)
  assert.deepEqual(await names(client, { trash: '1' }), [])
})

test('deletes an image after seven days, and at its own expiry', { skip: onTwoNodes }, async () => {
  const { client, hash } = await application()
  const brief = await client.upload(stamped(picture, 'breve'), { expires: seconds() + DAY })
  const kept = await client.upload(stamped(picture, 'se queda'), { name: 'se queda' })
  for (const image of [hash, String(brief.body['hash'])]) await move(client, image)
  clock.advance(DAY * 1_000)
  await sweep()
  assert.deepEqual(await names(client, { trash: '1' }), ['foto.png'])
  assert.deepEqual(await move(client, String(brief.body['hash']), { restore: '1' }), NO_IMAGE)
  clock.advance(6 * DAY * 1_000 - 1_000)
  await sweep()
  assert.equal((await move(client, hash, { restore: '1' })).status, 200)
  await move(client, hash)
  clock.advance(7 * DAY * 1_000)
  await sweep()
  assert.deepEqual(await names(client, { trash: '1' }), [])
  assert.deepEqual(await move(client, hash, { restore: '1' }), NO_IMAGE)
  assert.equal(await toStatus(client, String(kept.body['hash'])), 200)
})

test('an upload of the same bytes restores an image, and a deletion is final', async () => {
  const { client, bytes, hash } = await application({ tags: ['portada'] })
  await move(client, hash)
  assert.deepEqual((await client.upload(bytes, { name: 'de nuevo.png' })).body['tags'], ['portada'])
  await service.caughtUp()
  assert.deepEqual(await names(client), ['de nuevo.png'])
  assert.deepEqual(await names(client, { trash: '1' }), [])
  await move(client, hash)
  assert.equal((await client.remove(hash)).status, 200)
  await service.caughtUp()
  assert.deepEqual(await move(client, hash, { restore: '1' }), NO_IMAGE)
  assert.deepEqual((await client.upload(bytes)).body['tags'], [])
})

test('a ticket restores an image under its name', async () => {
  const { client, bytes, hash } = await application({ name: 'portada.png' })
  await move(client, hash)
  const ticket = await client.call('POST', 'tickets')
  assert.equal((await postBytes(String(ticket.body['url']), bytes)).status, 200)
  await service.caughtUp()
  assert.deepEqual(await names(client), ['portada.png'])
})

test('the quota counts what is in the trash', { skip: onTwoNodes }, async () => {
  const { name, client, hash } = await application()
  const { database, accounts } = service.app.context
  const account = (await accounts.find(name))?.id ?? 0
  await createAccountPolicies(database).change({ id: account, name }, { max_images: 1 })
  await move(client, hash)
  const full = problem(403, 'La aplicación ya tiene el máximo de 1 imágenes')
  assert.deepEqual(plain(await client.upload(stamped(picture, 'otra'))), full)
  await client.remove(hash)
  assert.equal((await client.upload(stamped(picture, 'otra'))).status, 200)
})

test('other applications keep the image, and keys of scope upload move only their own', async () => {
  const { name, client, bytes, hash } = await application()
  const other = await application()
  await other.client.upload(bytes)
  await move(client, hash)
  assert.equal(await toStatus(client, hash), 200)
  assert.equal((await other.client.get(hash)).status, 200)
  await move(client, hash, { restore: '1' })

  const uploadOnly = async () =>
    new ImageClient(service.url, (await service.newKey(name, 'imagestore', limited({ scope: 'upload' }))).key)
  const [visitor, second] = [await uploadOnly(), await uploadOnly()]
  assert.deepEqual(await move(visitor, hash), NO_IMAGE)
  const own = stamped(picture, 'propia')
  const { body } = await visitor.upload(own)
  assert.equal((await move(visitor, String(body['hash']))).status, 200)
  await second.upload(own)
  const shared = problem(403, 'La imagen también es de otra clave de la aplicación')
  assert.deepEqual(await move(second, String(body['hash'])), shared)
})

test('for followers of the changes an image is deleted and stored again', { skip: onTwoNodes }, async () => {
  const { client, hash } = await application()
  await move(client, hash)
  await move(client, hash, { restore: '1' })
  const changes = await service.app.context.database.all(
    sql<{ kind: string }>`SELECT kind FROM changes WHERE topic = 'image' AND key = ${hash} ORDER BY id`,
  )
  assert.deepEqual(
    changes.map(({ kind }) => kind),
    ['stored', 'deleted', 'stored'],
  )
})
