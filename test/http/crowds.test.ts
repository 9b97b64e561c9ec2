/** Many addresses without a key, as one network can have: together they delay clients with a key no more than one of them. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { taskModule } from '../../src/lib/tasks.ts'
import { ADD, LIST, record } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { call } from '../support/http.ts'
import { expectedHash, ImageClient } from '../support/images.ts'
import { RawConnection } from '../support/raw.ts'
import { startService, type TestService } from '../support/service.ts'

const QUEUE = 16
const CROWD = 4 * QUEUE
const HOLD = taskModule('../support/hold-thread', import.meta)
/** At least as many as parse bodies. */
const THREADS = 4
const getAddress = (i: number) => `10.0.${i >> 8}.${i & 255}`

/** Takes a moment to draw, in bytes of its own. */
const drawing = (number: number) =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="600" height="600"><!-- ${number} -->
     <filter id="f"><feTurbulence baseFrequency="0.05" numOctaves="40"/></filter>
     <rect width="600" height="600" filter="url(#f)"/></svg>`,
  )

suite('a crowd of addresses', { timeout: 300_000 }, () => {
  let service: TestService
  before(async () => {
    const flags = { 'trusted-proxies': '127.0.0.1', 'image-workers': '1' }
    service = await startService({ flags, limits: { imageQueue: QUEUE } })
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
        const headers = { 'x-forwarded-for': getAddress(visitor) }
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

  for (const [what, path, status] of [
    ['links', () => '/i/nada', 404],
    ['lists with a wrong key', () => `${LIST}?api=nada`, 401],
    [
      'images with the key of an application',
      () => `/api/v1/imagestore/get?hash=nada&api=${service.imageKey}`,
      404,
    ],
  ] as const) {
    test(`that requests ${what} all together does not delay another one with a key`, async () => {
      const getIn = (target: string, ip: string) =>
        `GET ${target} HTTP/1.1\r\nhost: x\r\nx-forwarded-for: ${ip}\r\n\r\n`
      const own = await RawConnection.open(service)
      const list = getIn(`${LIST}?api=${service.domainKey}`, getAddress(0))
      own.send(list)
      assert.equal((await own.reply())?.status, 200)
      const crowd = await Promise.all(Array.from({ length: 300 }, () => RawConnection.open(service)))
      const statuses: unknown[] = []
      const ask = async (connection: RawConnection, i: number) => {
        connection.send(getIn(path(), getAddress(i + 1)))
        statuses.push((await connection.reply())?.status)
      }
      // All are accepted.
      await Promise.all(crowd.map(ask))
      statuses.length = 0
      const replies = crowd.map(ask)
      own.send(list)
      assert.equal((await own.reply())?.status, 200)
      assert.ok(statuses.length < 150, `after ${statuses.length} of the crowd`)
      await Promise.all(replies)
      for (const connection of crowd) connection.close()
      assert.deepEqual(statuses, Array(300).fill(status))
      own.close()
    })
  }

  test('that sends bodies does not delay those with a key', async () => {
    const { tasks } = service.app.context
    const gate = new Int32Array(new SharedArrayBuffer(8))
    const held = Array.from({ length: THREADS }, (_, i) => tasks.run(HOLD, gate, { client: `account ${i}` }))
    const free = tasks.waiting
    // A dozen milliseconds of parsing each, in which the event loop gets a turn even on a busy machine.
    const data = JSON.stringify(Array.from({ length: 4_000 }, (_, i) => record(`nombre-${i}`)))
    const body = new URLSearchParams({ api: 'x', data }).toString()
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    let answered = 0
    const crowd = Array.from({ length: CROWD }, async (_, i) => {
      await call(service, ADD, { headers: { ...type, 'x-forwarded-for': getAddress(i) }, body })
      answered++
    })
    await eventually(() => tasks.waiting === free + CROWD)
    // Answered as soon as it is parsed.
    const own = 'data=x'
    const query = { api: service.domainKey }
    const headers = { ...type, 'x-forwarded-for': '10.1.0.1' }
    const added = call(service, ADD, { query, headers, body: own })
    await eventually(() => tasks.waiting === free + CROWD + 1)
    Atomics.store(gate, 1, 1)
    Atomics.notify(gate, 1)
    assert.match((await added).text, /El parámetro data no es JSON válido/)
    assert.ok(answered < CROWD / 2, `${answered} of ${CROWD} came first`)
    await Promise.all([...held, ...crowd])
  })
})
