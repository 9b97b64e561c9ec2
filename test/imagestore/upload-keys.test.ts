import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ImageClient, NO_IMAGE, plain } from '../support/images.ts'
import { picture, startImages } from '../support/image-service.ts'
import { limited, OUT_OF_SCOPE } from '../support/key-limits.ts'
import { ManualClock } from '../support/service.ts'

/** Seconds since 1970. */
const START = Date.parse('2026-01-05T00:00:00Z') / 1_000
const HOUR = 3_600

const clock = new ManualClock('2026-01-05T00:00:00Z')

const { service, newClient } = await startImages({ clock })
const app = await newClient('fotos')
const [one, other] = [
  await newClient('fotos', { scope: 'upload' }),
  await newClient('fotos', { scope: 'upload' }),
]

/** Who of the three sees an image; another node may be behind. */
async function seenBy(hash: string): Promise<string> {
  await service.caughtUp()
  const statuses = await Promise.all([app, one, other].map(async (client) => client.get(hash)))
  for (const answer of statuses) if (answer.status !== 200) assert.deepEqual(plain(answer), NO_IMAGE)
  return ['app', 'one', 'other'].filter((_, i) => statuses[i]?.status === 200).join(' ')
}

const removes = async (client: ImageClient, hash: string) => (await client.remove(hash)).status
const isLinked = async (hash: string) => (await app.link(hash)).status === 200

test('a key gets and deletes its own; the application sees all of them', async () => {
  const hash = await one.store(picture())
  assert.equal(await seenBy(hash), 'app one')
  assert.deepEqual(plain(await other.remove(hash)), NO_IMAGE)
  assert.equal(await seenBy(hash), 'app one')
  assert.deepEqual(plain(await one.remove(hash)), { status: 200, body: { status: 200, hash } })
  assert.equal(await seenBy(hash), '')
  assert.equal(await isLinked(hash), false)
  assert.deepEqual(plain(await one.remove(hash)), NO_IMAGE)
})

test("the application's images are not visible to it, and the application deletes the key's images", async () => {
  const mine = await app.store(picture())
  assert.equal(await seenBy(mine), 'app')
  assert.deepEqual(plain(await one.remove(mine)), NO_IMAGE)
  const theirs = await one.store(picture())
  assert.equal(await removes(app, theirs), 200)
  assert.equal(await seenBy(theirs), '')
})

test('a key that uploads the bytes of another deletes only its own part', async () => {
  const bytes = picture()
  const hash = await app.store(bytes)
  assert.equal(await one.store(bytes), hash)
  assert.equal(await seenBy(hash), 'app one')
  assert.equal(await removes(one, hash), 200)
  assert.equal(await seenBy(hash), 'app')
  assert.equal(await isLinked(hash), true)
  assert.deepEqual(plain(await one.remove(hash)), NO_IMAGE)
  assert.equal(await removes(app, hash), 200)
  assert.equal(await isLinked(hash), false)
})

test('the same if the key uploaded first, and with two keys', async () => {
  const bytes = picture()
  const hash = await one.store(bytes)
  await app.store(bytes)
  await other.store(bytes)
  assert.equal(await seenBy(hash), 'app one other')
  assert.equal(await removes(one, hash), 200)
  assert.equal(await seenBy(hash), 'app other')
  assert.equal(await removes(other, hash), 200)
  assert.equal(await seenBy(hash), 'app')

  const common = picture()
  const shared = await one.store(common)
  const again = await other.store(common)
  assert.equal(again, shared)
  assert.equal(await removes(one, shared), 200)
  assert.equal(await seenBy(shared), 'app other')
  assert.equal(await removes(other, shared), 200)
  assert.equal(await seenBy(shared), '')
  assert.equal(await isLinked(shared), false)
})

test('a key shortens the lifetime of its own images only', async () => {
  const getExpiry = async (hash: string) => (await app.get(hash)).body['expires']
  const soon = START + HOUR
  const late = START + 5 * HOUR
  const bytes = picture()
  const lasting = await app.store(bytes)
  await one.store(bytes, { expires: soon })
  await service.caughtUp()
  assert.equal(await getExpiry(lasting), null)

  const limitedBytes = picture()
  const hash = await app.store(limitedBytes, { expires: late })
  await one.store(limitedBytes, { expires: soon })
  await service.caughtUp()
  assert.equal(await getExpiry(hash), late)

  const ownBytes = picture()
  const own = await one.store(ownBytes)
  await one.store(ownBytes, { expires: soon })
  await service.caughtUp()
  assert.equal(await getExpiry(own), soon)
  // The application's own uploads replace the existing record.
  await app.store(limitedBytes, { expires: soon })
  await service.caughtUp()
  assert.equal(await getExpiry(hash), soon)
})

test('a key changes name and date of its own images only', async () => {
  const toRecord = async (hash: string) => {
    await service.caughtUp()
    const { body } = await app.get(hash)
    return [body['name'], body['date']]
  }
  const now = () => Math.floor(clock.now() / 1_000)
  for (const holder of [app, other]) {
    const bytes = picture()
    const date = now()
    const hash = await holder.store(bytes, { name: 'primero.png' })
    clock.advance(60_000)
    assert.equal((await one.get(hash)).status, 404)
    await one.store(bytes, { name: 'ajeno.png' })
    await one.store(bytes, { name: 'ajeno.png' })
    assert.deepEqual(await toRecord(hash), ['primero.png', date])
    assert.deepEqual((await one.get(hash)).body['name'], 'primero.png')
    // Once it is the only holder, the image is its own.
    if (holder !== other) continue
    assert.equal(await removes(other, hash), 200)
    await one.store(bytes, { name: 'propio.png' })
    assert.deepEqual(await toRecord(hash), ['propio.png', now()])
  }
  const bytes = picture()
  const hash = await one.store(bytes, { name: 'primero.png' })
  clock.advance(60_000)
  await app.store(bytes, { name: 'de la aplicación.png' })
  assert.deepEqual(await toRecord(hash), ['de la aplicación.png', now()])
})

test('an expired image has no owner: the key that uploads it again is its only owner', async () => {
  const bytes = picture()
  const expires = Math.floor(clock.now() / 1_000) + HOUR
  const hash = await one.store(bytes, { expires })
  clock.advance(HOUR * 1_000)
  assert.equal(await seenBy(hash), '')
  assert.deepEqual(plain(await one.remove(hash)), NO_IMAGE)
  await other.store(bytes)
  assert.equal(await seenBy(hash), 'app other')
  assert.deepEqual(plain(await one.remove(hash)), NO_IMAGE)
})

test('an upload key sees nothing else of the application', async () => {
  const near = await app.upload(picture())
  assert.notEqual(near.body['similar'], null)
  const { body } = await one.upload(picture())
  assert.equal(body['similar'], null)
  assert.deepEqual((await one.list()).body, OUT_OF_SCOPE)
})

test('the images of a revoked key stay with the application', async () => {
  const { key, id } = await service.newKey('fotos', 'imagestore', limited({ scope: 'upload' }))
  const bytes = picture()
  const hash = await new ImageClient(service.url, key).store(bytes)
  await one.store(bytes)
  await service.revokeKey(id)
  assert.equal(await removes(one, hash), 200)
  assert.equal(await seenBy(hash), 'app')
  assert.equal(await removes(app, hash), 200)
})

test('of keys that delete the same bytes concurrently the last one removes the image', async () => {
  for (let round = 0; round < 5; round++) {
    const bytes = picture()
    const hash = await one.store(bytes)
    await other.store(bytes)
    assert.deepEqual(await Promise.all([removes(one, hash), removes(other, hash)]), [200, 200])
    assert.equal(await seenBy(hash), '')
    assert.equal(await isLinked(hash), false)
  }
})
