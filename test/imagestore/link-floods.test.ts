/** More concurrent derivatives than can be rendered are made in turn, and dropped when no client waits. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { expectedHash, ImageClient, noise } from '../support/images.ts'
import { BLOBS_VARIABLE } from '../support/s3.ts'
import { startService, type TestService } from '../support/service.ts'

const photo = await noise(1_500, 1_000).jpeg().toBuffer()
const hash = expectedHash(photo)
/** Work of seconds at its own size. */
const large = await noise(3_000, 2_000).jpeg().toBuffer()

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
      await Promise.all(again.map((response) => response.arrayBuffer()))
      return again.every(({ status }) => status === 200)
    })
  })
})
