import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { metric } from '../support/http.ts'
import { answerOf, postBytes, noise, plain, problem } from '../support/images.ts'
import { startImages } from '../support/image-service.ts'

const { service, client: app } = await startImages()

/** Images served from memory, and others. */
const counted = async () => ({
  hits: await metric(service, 'images_cache_hits_total'),
  misses: await metric(service, 'images_cache_misses_total'),
})

/** Asserts that the first links are served from memory, once `count` derivatives were made. */
async function assertMade(hash: string, lists: readonly string[], misses: number): Promise<void> {
  await eventually(async () => (await counted()).misses === misses + lists.length)
  const { hits } = await counted()
  // The last one is counted when it begins, and a link for it waits for it.
  for (const list of lists) {
    const link = await app.link(`${hash}&m=${list}`)
    await link.arrayBuffer()
    assert.equal(link.status, 200)
  }
  assert.ok((await counted()).hits >= hits + lists.length - 1)
}

test('of an upload, the first links are served from the cache', async () => {
  const { misses } = await counted()
  const lists = ['w_30', 'w_20,f_webp']
  const { status, body } = await app.upload(await noise(60, 60).png().toBuffer(), { eager: lists })
  assert.equal(status, 200)
  await assertMade(String(body['hash']), lists, misses)
})

test('what clients accept decides: `f_auto` is made for each of their classes', async () => {
  const { misses, hits } = await counted()
  const { body } = await app.upload(await noise(64, 64).png().toBuffer(), { eager: ['w_32,f_auto'] })
  await eventually(async () => (await counted()).misses === misses + 3)
  for (const accept of ['image/avif,image/webp,image/*,*/*;q=0.8', 'image/webp,*/*', '*/*']) {
    const link = await app.link(`${String(body['hash'])}&m=w_32,f_auto`, { headers: { accept } })
    await link.arrayBuffer()
    assert.equal(link.status, 200)
  }
  // As above, the last one may still be in progress.
  assert.ok((await counted()).hits >= hits + 2)
})

test('of an upload with a ticket, raw or resumable, too', async () => {
  const lists = ['w_31', 'w_21']
  const { body: ticket } = await app.call('POST', 'tickets', { eager: JSON.stringify(lists), uses: '2' })
  const url = String(ticket['url'])
  const before = await counted()
  const raw = await postBytes(url, await noise(61, 61).png().toBuffer())
  await assertMade(String(raw.body['hash']), lists, before.misses)

  const { misses } = await counted()
  const bytes = await noise(62, 62).png().toBuffer()
  const tus = { 'tus-resumable': '1.0.0' }
  const length = String(bytes.byteLength)
  const begun = await fetch(url, { method: 'POST', headers: { ...tus, 'upload-length': length } })
  const place = new URL(begun.headers.get('location') ?? '', url)
  const type = 'application/offset+octet-stream'
  const patch = { ...tus, 'content-type': type, 'upload-offset': '0' }
  assert.equal((await fetch(place, { method: 'PATCH', headers: patch, body: bytes })).status, 204)
  await assertMade(String((await answerOf(await fetch(place))).body['hash']), lists, misses)
})

test('what cannot be made is refused, and nothing is stored', async () => {
  const bytes = await noise(63, 63).png().toBuffer()
  const list = 'El parámetro eager debe ser una lista JSON de hasta 8 textos de modificadores'
  for (const [eager, expected] of [
    ['w_30', list],
    [Array.from({ length: 9 }, () => 'w_30'), list],
    [['w_30', 'ancho_3'], 'El parámetro eager no admite el modificador ancho_3'],
  ] as const) {
    const answer = await app.upload(bytes, { eager })
    assert.deepEqual(plain(answer), problem(400, expected))
    assert.equal(answer.reason, 'info')
  }
  const { body } = await app.list({ search: 'nada' })
  assert.equal(body['count'], 0)
})
