/** More concurrent derivatives than can be rendered are made in turn, and dropped when no client waits. */
import assert from 'node:assert/strict'
import { Agent, get } from 'node:http'
import { after, before, suite, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { expectedHash, ImageClient, noise } from '../support/images.ts'
import { BLOBS_VARIABLE } from '../support/s3.ts'
import { startService, type TestService } from '../support/service.ts'

const photo = await noise(1_500, 1_000).jpeg().toBuffer()
const hash = expectedHash(photo)
/** Work of seconds at its own size. */
const large = await noise(3_000, 2_000).jpeg().toBuffer()

/** Links of another client that may be served before a newcomer's: those that have begun. */
const MAX_BEFORE = 4

suite('a flood of links', () => {
  let service: TestService
  let client: ImageClient
  let width = 100

  before(async () => {
    service = await startService({
      flags: { 'image-workers': '1', 'trusted-proxies': '127.0.0.1' },
    })
    client = new ImageClient(service.url, service.imageKey)
    await client.upload(photo)
    await client.upload(large)
  })
  after(() => service[Symbol.asyncDispose]())

  const metric = async (name: string) => {
    const text = await (await fetch(`${service.url}/metrics`)).text()
    return Number(new RegExp(`^catalejo_images_${name} (\\d+)`, 'm').exec(text)?.[1])
  }

  /** Requests a thumbnail that nobody has requested before. */
  const toStatus = (agent: Agent) =>
    new Promise<number | undefined>((resolve, reject) => {
      const path = `${service.url}/i/${hash}&m=w_${width++}`
      get(path, { agent }, (response) => response.resume().on('end', () => resolve(response.statusCode))).on(
        'error',
        reject,
      )
    })

  const ask = (from: string) =>
    client.link(`${hash}&m=w_${width++}`, { headers: { 'x-forwarded-for': from } })

  for (const connections of [6, 100]) {
    test(`a gallery of a hundred images never breaks on ${connections} connections`, async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: connections })
      const statuses = await Promise.all(Array.from({ length: 100 }, () => toStatus(agent)))
      assert.deepEqual(new Set(statuses), new Set([200]))
      agent.destroy()
    })
  }

  test('only a client with more than 200 waiting links is refused, and another one has its turn', async () => {
    const crowd = 300
    let served = 0
    const work = Array.from({ length: crowd }, async () => {
      const response = await ask('203.0.113.1')
      if (response.status === 200) served++
      await response.arrayBuffer()
      return [response.status, response.headers.get('retry-after')] as const
    })
    await eventually(async () => (await metric('waiting')) >= 200)
    const before = served
    assert.equal((await ask('203.0.113.2')).status, 200)
    assert.ok(served - before <= MAX_BEFORE, `${served - before} were served before`)
    const refused = (await Promise.all(work)).filter(([status]) => status !== 200)
    // Two were rendered at the start.
    assert.ok(refused.length > 0 && served >= 202, `${served} served`)
    assert.deepEqual(new Set(refused.map(String)), new Set(['503,1']))
  })

  // With a store behind a network, reads under way keep their places until they end.
  const slow = BLOBS_VARIABLE in process.env && 'reads of the store decide when places come free'
  test('abandoned requests are not rendered', { skip: slow }, async () => {
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
