/**
 * More concurrent derivatives than can be rendered: limited per address and in total, and dropped when no client
 * waits.
 */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { answerOf, bytesOf, expectedHash, ImageClient, noise, plain, problem } from '../support/images.ts'
import { BLOBS_VARIABLE } from '../support/s3.ts'
import { startService, type TestService } from '../support/service.ts'

const photo = await noise(1_500, 1_000).jpeg().toBuffer()
const hash = expectedHash(photo)
/** Work of seconds at its own size. */
const large = await noise(3_000, 2_000).jpeg().toBuffer()
const OVERLOAD = problem(503, 'El servicio está saturado, inténtelo de nuevo')

suite('a flood of links', () => {
  let service: TestService
  let client: ImageClient
  let width = 100

  before(async () => {
    service = await startService({
      flags: { 'image-workers': '1', 'trusted-proxies': '127.0.0.1' },
      limits: { imageQueue: 8 },
    })
    client = new ImageClient(service.url, service.imageKey)
    await client.upload(photo)
    await client.upload(large)
  })
  after(() => service[Symbol.asyncDispose]())

  const ask = (from: string) =>
    client.link(`${hash}&m=w_${width++},f_avif`, { headers: { 'x-forwarded-for': from } })

  /** How many were made and how many refused, which must be in this way. */
  async function sorted(responses: readonly Response[]) {
    let made = 0
    for (const response of responses) {
      if (response.status === 200) {
        made++
        await bytesOf(response)
        continue
      }
      assert.equal(response.headers.get('retry-after'), '1')
      assert.deepEqual(plain(await answerOf(response)), OVERLOAD)
    }
    return { made, refused: responses.length - made }
  }

  test('one address gets half of the queue', async () => {
    const responses = await Promise.all(Array.from({ length: 30 }, () => ask('203.0.113.1')))
    const { made, refused } = await sorted(responses)
    assert.ok(made >= 4 && refused > 0, `${made}, ${refused}`)
  })

  test('a gallery of a hundred images never breaks', async () => {
    await using usual = await startService()
    const gallery = new ImageClient(usual.url, usual.imageKey)
    await gallery.upload(photo)
    const widths = Array.from({ length: 100 }, (_, i) => i + 10)
    const responses = await Promise.all(widths.map((width) => gallery.link(`${hash}&m=w_${width}`)))
    for (const response of responses) {
      assert.equal(response.status, 200)
      await response.arrayBuffer()
    }
  })

  test('all addresses together get all of it', async () => {
    const responses = await Promise.all(Array.from({ length: 60 }, (_, i) => ask(`203.0.113.${i + 1}`)))
    const { made, refused } = await sorted(responses)
    assert.ok(made >= 9 && refused > 0, `${made}, ${refused}`)
  })

  // With a store behind a network, reads under way keep their places until they end.
  const slow = BLOBS_VARIABLE in process.env && 'reads of the store decide when places come free'
  test('abandoned requests are not rendered', { skip: slow }, async () => {
    const metric = async (name: string) => {
      const text = await (await fetch(`${service.url}/metrics`)).text()
      return Number(new RegExp(`^catalejo_images_${name} (\\d+)`, 'm').exec(text)?.[1])
    }
    const stop = new AbortController()
    const options = { headers: { 'x-forwarded-for': '203.0.113.9' }, signal: stop.signal }
    const left = Array.from({ length: 4 }, (_, i) =>
      client.link(`${expectedHash(large)}&m=w_${2_000 + i},f_avif`, options).catch(() => undefined),
    )
    while ((await metric('waiting')) < 3) await new Promise(setImmediate)
    stop.abort()
    await Promise.all(left)
    while ((await metric('waiting')) > 0) await new Promise(setImmediate)
    // There is room for as many again, once their resources are released.
    await eventually(async () => {
      const again = await Promise.all(Array.from({ length: 4 }, () => ask('203.0.113.9')))
      return (await sorted(again)).made === 4
    })
  })
})
