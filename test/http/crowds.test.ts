/** Many addresses without a key, as one network can have: together they delay clients with a key no more than one of them. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { ADD, record } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { call } from '../support/http.ts'
import { expectedHash, ImageClient } from '../support/images.ts'
import { BLOBS_VARIABLE } from '../support/s3.ts'
import { startService, type TestService } from '../support/service.ts'

const QUEUE = 16
const CROWD = 4 * QUEUE
const addressOf = (i: number) => `10.0.${i >> 8}.${i & 255}`
// A balancer hides from the test which node a client is sent to.
const balanced = BLOBS_VARIABLE in process.env && 'behind a balancer'

/** Takes a moment to draw, in bytes of its own. */
const drawing = (number: number) =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="600" height="600"><!-- ${number} -->
     <filter id="f"><feTurbulence baseFrequency="0.05" numOctaves="40"/></filter>
     <rect width="600" height="600" filter="url(#f)"/></svg>`,
  )

suite('a crowd of addresses', { skip: balanced, timeout: 120_000 }, () => {
  let service: TestService
  before(async () => {
    const flags = { 'trusted-proxies': '127.0.0.1', 'image-workers': '1', 'image-queue': String(QUEUE) }
    service = await startService({ flags })
  })
  after(() => service[Symbol.asyncDispose]())

  test('that requests links leaves room and time for uploads', async () => {
    const client = new ImageClient(service.url, service.imageKey)
    assert.equal((await client.upload(drawing(0))).status, 200)
    const hash = expectedHash(drawing(0))
    const ending = new AbortController()
    let width = 100
    // Each request comes from an address that was never seen before.
    const visitors = Array.from({ length: CROWD }, async () => {
      while (!ending.signal.aborted) {
        const visitor = width++
        const headers = { 'x-forwarded-for': addressOf(visitor) }
        const path = `${hash}&m=w_${visitor},f_png`
        await client.link(path, { headers, signal: ending.signal }).then((response) => response.text())
      }
    })
    const left = Promise.allSettled(visitors)
    const waiting = async () => {
      const text = await (await fetch(`${service.url}/metrics`)).text()
      return Number(/^catalejo_images_waiting (\d+)/m.exec(text)?.[1])
    }
    await eventually(async () => (await waiting()) >= QUEUE)
    for (let i = 1; i <= 4; i++) assert.equal((await client.upload(drawing(i))).status, 200)
    ending.abort()
    await left
  })

  test('that sends bodies does not delay those with a key', async () => {
    // Some milliseconds of parsing each, in memory for small bodies.
    const data = JSON.stringify(Array.from({ length: 1_000 }, (_, i) => record(`nombre-${i}`)))
    const body = new URLSearchParams({ api: 'x', data }).toString()
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    let answered = 0
    const crowd = Array.from({ length: CROWD }, async (_, i) => {
      await call(service, ADD, { headers: { ...type, 'x-forwarded-for': addressOf(i) }, body })
      answered++
    })
    await eventually(() => service.app.context.tasks.waiting > CROWD / 2)
    const before = answered
    const own = new URLSearchParams({ data: JSON.stringify([record('casa')]) }).toString()
    const query = { api: service.domainKey }
    const headers = { ...type, 'x-forwarded-for': '10.1.0.1' }
    assert.equal((await call(service, ADD, { query, headers, body: own })).status, 200)
    assert.ok(answered - before < CROWD / 4, `${answered - before} of ${CROWD} came first`)
    await Promise.all(crowd)
  })
})
