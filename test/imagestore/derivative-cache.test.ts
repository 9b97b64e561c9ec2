/** How often the engine runs, and what happens to its results. */
import assert from 'node:assert/strict'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { filesUnder } from '../durability/folders.ts'
import { eventually } from '../support/eventually.ts'
import { metric } from '../support/http.ts'
import { bytesOf, expectedHash, gradient, ImageClient, noise } from '../support/images.ts'
import { startService, type TestService, type TestServiceOptions } from '../support/service.ts'

const photo = await gradient(600, 400).jpeg().toBuffer()
const hash = expectedHash(photo)
const LINK = `${hash}&m=w_77`

/** Nothing stays in memory, so that the disk shows. */
async function open(options: TestServiceOptions = {}) {
  const service = await startService({ ...options, flags: { 'memory-cache': '0', ...options.flags } })
  return { service, client: new ImageClient(service.url, service.imageKey) }
}

const made = (service: TestService) => metric(service, 'derivatives_made_total')
const folderOf = ({ data }: TestService) => join(data, 'derivatives')
/** The folder is made by the first file. */
const keptFiles = (service: TestService) => filesUnder(folderOf(service)).catch(() => [])

test('equal concurrent requests share one computation, later ones need none, and stats report the space, also after restarts', async () => {
  const flags = { 'derivative-cache': '100' }
  const { service, client } = await open({ flags })
  await using _ = service
  const other = new ImageClient(service.url, (await service.newKey('otra', 'imagestore')).key)
  const becomes = (from: ImageClient, bytes: number) => {
    const usage = { bytes, max_bytes: 100 * 1_024 * 1_024 }
    const isSo = async () => isDeepStrictEqual((await from.call('GET', 'stats')).body['derivatives'], usage)
    return eventually(isSo, `${bytes} bytes`)
  }
  await becomes(client, 0)
  await client.upload(photo)
  const links = await Promise.all(Array.from({ length: 20 }, () => client.link(LINK).then(bytesOf)))
  assert.equal(await made(service), 1)
  // Two blocks of the disk: the file and its folder.
  for (const application of [client, other]) await becomes(application, 8_192)
  // The same in other words.
  assert.ok((await bytesOf(await client.link(`${hash}&m=c_fit,w_77`))).equals(links[0] ?? photo))
  assert.equal(await made(service), 1)
  await service.stop()

  const again = await open({ data: service.data, flags })
  await using _again = again.service
  const response = await again.client.link(LINK)
  assert.equal(response.headers.get('content-type'), 'image/jpeg')
  assert.ok((await bytesOf(response)).equals(links[0] ?? photo))
  assert.equal(await made(again.service), 0)
  assert.equal(await metric(again.service, 'derivatives_disk_hits_total'), 1)
  // Each start begins with a sweep.
  await becomes(again.client, 8_192)
  await again.client.remove(hash)
  await again.service.stop()
  const last = await open({ data: service.data, flags })
  await using _last = last.service
  await becomes(last.client, 0)
})

test('deleting an image deletes its derivatives, also one that is finished afterwards', async () => {
  const { service, client } = await open()
  await using _ = service
  const large = await noise(1_000, 1_000).png({ compressionLevel: 0 }).toBuffer()
  await client.upload(large)
  await client.upload(photo)
  for (const width of [10, 20, 30]) await bytesOf(await client.link(`${hash}&m=w_${width}`))
  await eventually(async () => (await keptFiles(service)).length === 3)
  assert.equal((await client.remove(hash)).status, 200)
  await eventually(async () => (await filesUnder(folderOf(service)).catch(() => ['going'])).length === 0)
  assert.equal((await client.link(`${hash}&m=w_10`)).status, 404)
  // Rendered again, with nothing left from before.
  await client.upload(photo)
  assert.equal((await client.link(`${hash}&m=w_10`)).status, 200)
  assert.equal(await made(service), 4)
  assert.equal((await client.remove(hash)).status, 200)

  const response = client.link(`${expectedHash(large)}.avif&m=w_900`)
  await eventually(async () => (await made(service)) === 5)
  assert.equal((await client.remove(expectedHash(large))).status, 200)
  await (await response).arrayBuffer()
  // Stopping waits for what is being kept.
  await service.stop()
  assert.deepEqual(await keptFiles(service), [])
})

for (const [name, flags, isFault] of [
  ['a failing disk', {}, true],
  ['a disabled cache', { 'derivative-cache': '0' }, false],
] as const) {
  test(`with ${name}, derivatives are rendered each time`, async () => {
    const data = await mkdtemp(join(tmpdir(), 'catalejo-test-'))
    // Whatever the user's rights, nothing can be kept under a file.
    await writeFile(join(data, 'derivatives'), '')
    const { service, client } = await open({ data, flags })
    await using _ = service
    await client.upload(photo)
    for (let i = 1; i <= 3; i++) {
      // While one is being stored, although that will fail, it serves further requests.
      await eventually(async () => {
        assert.equal((await client.link(LINK)).status, 200)
        return (await made(service)) === i
      })
    }
    await service.stop()
    assert.equal((await service.log()).includes('derivative cache failed'), isFault)
  })
}
