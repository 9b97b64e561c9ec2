/** How often the engine runs, and what happens to its results. */
import assert from 'node:assert/strict'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { filesUnder } from '../durability/folders.ts'
import { call } from '../support/http.ts'
import { bytesOf, expectedHash, gradient, ImageClient, noise } from '../support/images.ts'
import { startService, type TestService, type TestServiceOptions } from '../support/service.ts'
import { eventually } from '../support/eventually.ts'

const photo = await gradient(600, 400).jpeg().toBuffer()
const hash = expectedHash(photo)
const LINK = `${hash}&m=w_77`
/** Nothing stays in memory, so that the disk shows. */
const NO_MEMORY = { 'memory-cache': '0' }

async function open(options: TestServiceOptions = {}) {
  const service = await startService({ ...options, flags: { ...NO_MEMORY, ...options.flags } })
  return { service, client: new ImageClient(service.url, service.imageKey) }
}

async function metric(service: TestService, name: string): Promise<number> {
  const { text } = await call(service, '/metrics')
  return Number(new RegExp(`^catalejo_derivatives_${name} (\\S+)$`, 'm').exec(text)?.[1])
}

const folderOf = ({ data }: TestService) => join(data, 'derivatives')
const keptFiles = (service: TestService) => filesUnder(folderOf(service)).catch(() => [])

suite('the cache of derivatives', { concurrency: 2 }, () => {
  test('equal concurrent requests share one computation, and later ones need none, also after a restart', async () => {
    const { service, client } = await open()
    await using _ = service
    await client.upload(photo)
    const links = await Promise.all(Array.from({ length: 20 }, () => client.link(LINK).then(bytesOf)))
    assert.equal(await metric(service, 'made_total'), 1)
    await eventually(async () => (await keptFiles(service)).length === 1)
    // The same in other words.
    assert.ok((await bytesOf(await client.link(`${hash}&m=c_fit,w_77`))).equals(links[0] ?? photo))
    assert.equal(await metric(service, 'made_total'), 1)
    await service.stop()

    const again = await open({ data: service.data })
    await using second = again.service
    const response = await again.client.link(LINK)
    assert.equal(response.headers.get('content-type'), 'image/jpeg')
    assert.ok((await bytesOf(response)).equals(links[0] ?? photo))
    assert.equal(await metric(second, 'made_total'), 0)
    assert.equal(await metric(second, 'disk_hits_total'), 1)
    await second.stop()
  })

  test('deleting an image deletes its derivatives', async () => {
    const { service, client } = await open()
    await using _ = service
    await client.upload(photo)
    for (const width of [10, 20, 30]) await bytesOf(await client.link(`${hash}&m=w_${width}`))
    await eventually(async () => (await keptFiles(service)).length === 3)
    assert.equal((await client.remove(hash)).status, 200)
    await eventually(async () => (await filesUnder(folderOf(service)).catch(() => ['going'])).length === 0)
    assert.equal((await client.link(`${hash}&m=w_10`)).status, 404)
    // Rendered again, with nothing left from before.
    await client.upload(photo)
    assert.equal((await client.link(`${hash}&m=w_10`)).status, 200)
    assert.equal(await metric(service, 'made_total'), 4)
  })

  test('a derivative finished after the deletion is not kept', async () => {
    const { service, client } = await open()
    await using _ = service
    const large = await noise(1_500, 1_500).png({ compressionLevel: 0 }).toBuffer()
    const id = expectedHash(large)
    await client.upload(large)
    const response = client.link(`${id}.avif&m=w_900`)
    await eventually(async () => (await metric(service, 'made_total')) === 1)
    assert.equal((await client.remove(id)).status, 200)
    await (await response).arrayBuffer()
    // Stopping waits for what is being kept.
    await service.stop()
    // Its folder is made by the first file.
    assert.deepEqual(await filesUnder(folderOf(service)).catch(() => []), [])
  })

  test('stats report the space of derivatives of all applications, also after a restart', async () => {
    const { service, client } = await open({ flags: { 'derivative-cache': '100' } })
    await using _ = service
    const other = new ImageClient(service.url, (await service.newKey('otra', 'imagestore')).key)
    const derivatives = async ({ endpoint }: Pick<ImageClient, 'endpoint'>) => {
      const body: unknown = await (await fetch(endpoint('stats'))).json()
      return body !== null && typeof body === 'object' && 'derivatives' in body ? body.derivatives : undefined
    }
    const use = (bytes: number) => ({ bytes, max_bytes: 100 * 1_024 * 1_024 })
    const toUsage = (from: ImageClient) => derivatives({ endpoint: from.endpoint.bind(from) })
    assert.deepEqual(await toUsage(client), use(0))
    await client.upload(photo)
    await bytesOf(await client.link(LINK))
    // Two blocks of the disk: the file and its folder.
    await eventually(async () => isDeepStrictEqual(await toUsage(client), use(8_192)))
    assert.deepEqual(await toUsage(other), use(8_192))
    await service.stop()
    // Each start begins with a sweep.
    const again = await open({ data: service.data, flags: { 'derivative-cache': '100' } })
    await eventually(async () => isDeepStrictEqual(await toUsage(again.client), use(8_192)))
    await again.client.remove(hash)
    await again.service.stop()
    const last = await open({ data: service.data, flags: { 'derivative-cache': '100' } })
    await eventually(async () => isDeepStrictEqual(await toUsage(last.client), use(0)))
    await last.service.stop()
  })

  test('with a failing disk or a disabled cache, derivatives are rendered each time', async () => {
    const { service, client } = await open()
    await using _ = service
    await client.upload(photo)
    await service.stop()
    await rm(folderOf(service), { recursive: true, force: true })
    // Whatever the user's rights, nothing can be kept under a file.
    await writeFile(folderOf(service), '')
    for (const [flags, faults] of [
      [{}, true],
      [{ 'derivative-cache': '0' }, false],
    ] as const) {
      const again = await open({ data: service.data, flags })
      for (let i = 1; i <= 3; i++) {
        // While one is being stored, although that will fail, it serves further requests.
        await eventually(async () => {
          assert.equal((await again.client.link(LINK)).status, 200)
          return (await metric(again.service, 'made_total')) === i
        })
      }
      await again.service.stop()
      assert.equal((await again.service.log()).includes('derivative cache failed'), faults)
    }
  })
})
