/** Clients take turns at heavy images: no client waits for the queue of another, or indefinitely; what nobody waits for is dropped. */
import assert from 'node:assert/strict'
import { Agent, get } from 'node:http'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { metric } from '../support/http.ts'
import { startImages } from '../support/image-service.ts'
import {
  answerOf,
  bytesOf,
  expectedHash,
  ImageClient,
  NO_IMAGE,
  noise,
  plain,
  problem,
} from '../support/images.ts'
import { startService, type TestService } from '../support/service.ts'

const OVERLOAD = problem(503, 'El servicio está saturado, inténtelo de nuevo')
/** Requests of one client that is in no hurry to leave room. */
const MANY = 12
/** The maximum number of these served before a newcomer: those that run when it arrives. */
const FEW = 4

const drawing = (width: number, height: number, content = '') =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${content}</svg>`)

/** A square of turbulence, covered as many times; each in bytes of its own. */
const filtered = (number: number, octaves: number, side: number, layers: number) =>
  drawing(
    side,
    side,
    `<!-- ${number} --><filter id="f"><feTurbulence baseFrequency="0.05" numOctaves="${octaves}"/></filter>
     ${`<rect width="${side}" height="${side}" filter="url(#f)"/>`.repeat(layers)}`,
  )
/** Heavy to draw, as anything with filters, and done within a fraction of a second. */
const heavy = (number: number) => filtered(number, 60, 600, 1)
/** Takes minutes to draw. */
const endless = (number: number) => filtered(number, 40, 4_000, 40)
/** Whose cost nobody knows. */
const light = (number: number) => filtered(number, 2, 600, 1)

const times = (count: number, write: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => write(i)).join('')
/** Each selector is compared with each element, or each element with those before it: takes from seconds to minutes to read. */
const styled = [
  `<style>rect ~ rect ~ g ~ rect {}</style>${times(20_000, () => '<rect/>')}`,
  `<style>${times(6_000, (i) => `.c${i}{}`)}</style>${times(6_000, (i) => `<g class="c${i}"/>`)}`,
  `<style>g:nth-of-type(7) {}</style>${times(20_000, () => '<g/>')}`,
].map((content) => drawing(60, 40, content))

const flags = { 'image-workers': '1', 'image-wait': '200', 'trusted-proxies': '127.0.0.1' }
const limits = { imageQueue: 32 }
const patient = { imageTimeoutMs: 300_000 }

/** Counts what has settled, so that the order in which clients are served shows. */
class Settled {
  count = 0
  readonly all: Promise<unknown>[] = []

  add(work: Promise<unknown>): void {
    this.all.push(work.catch(() => undefined).finally(() => this.count++))
  }
}

const waiting = (service: TestService) => metric(service, 'images_waiting')

const { service, client, newClient } = await startImages({ flags, limits })
const image = heavy(0)
const hash = expectedHash(image)
assert.equal((await client.upload(image)).status, 200)

async function ask(from: string, path: string) {
  const response = await client.link(path, { headers: { 'x-forwarded-for': from } })
  return { status: response.status, bytes: await bytesOf(response) }
}
let width = 400
const fresh = () => `${hash}&m=w_${width++},f_png`

async function flood(paths: readonly string[], addresses: readonly string[]) {
  const flood = new Settled()
  for (const [i, path] of paths.entries()) flood.add(ask(addresses[i % addresses.length] ?? '', path))
  await eventually(async () => (await waiting(service)) + flood.count >= paths.length - 2)
  return flood
}

/** Asserts that a visitor is served long before a flood has ended. */
async function assertServed(others: Settled, path: string) {
  const before = others.count
  assert.equal((await ask('203.0.113.2', path)).status, 200)
  assert.ok(others.count - before <= FEW, `${others.count - before} were served before`)
  await Promise.all(others.all)
}

for (const [name, addresses] of [
  ['one IPv6 network', Array.from({ length: MANY }, (_, i) => `2001:db8:0:1::${i + 1}`)],
  ['several others', ['203.0.113.3', '203.0.113.4', '203.0.113.5', '203.0.113.6']],
] as const) {
  test(`a visitor does not wait for the queue of the addresses of ${name}`, async () =>
    assertServed(await flood(Array.from({ length: MANY }, fresh), addresses), fresh()))
}

test('uploads of one application delay neither another application nor a visitor', async () => {
  const other = await newClient('otra')
  const uploads = new Settled()
  for (let i = 1; i <= MANY; i++) uploads.add(other.upload(heavy(i)))
  await eventually(async () => (await waiting(service)) + uploads.count >= MANY - 2)
  const before = uploads.count
  const [upload, link] = await Promise.all([client.upload(heavy(-1)), ask('203.0.113.9', fresh())])
  assert.deepEqual([upload.status, link.status], [200, 200])
  assert.ok(uploads.count - before <= FEW + 1, `${uploads.count - before} were served before`)
  await Promise.all(uploads.all)
})

test('an ordinary image does not wait for large outputs whose cost is underestimated', async () => {
  const plain = drawing(60, 40)
  assert.equal((await client.upload(plain)).status, 200)
  const large = Array.from(
    { length: 7 },
    (_, i) => `${expectedHash(plain)}&m=w_${2_000 + i},h_1600,c_scale,up,blur_30,f_webp`,
  )
  await assertServed(await flood(large, ['203.0.113.14']), `${expectedHash(plain)}&m=w_20`)
})

test('a long wait ends with 503', { timeout: 300_000 }, async () => {
  await using service = await startService({
    flags: { ...flags, 'image-wait': '1s' },
    limits: { ...limits, ...patient },
  })
  const client = new ImageClient(service.url, service.imageKey)
  const image = light(0)
  assert.equal((await client.upload(image)).status, 200)
  const stop = new AbortController()
  const running = client.upload(endless(0), {}, stop.signal).catch(() => undefined)
  await eventually(async () => (await metric(service, 'images_decoding')) === 1)
  const link = await client.link(`${expectedHash(image)}&m=w_100`)
  const upload = await client.upload(light(1))
  for (const answer of [await answerOf(link), upload]) {
    assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
    assert.deepEqual(plain(answer), OVERLOAD)
  }
  // Nor does it last longer because others join it.
  const shared = `${expectedHash(image)}&m=w_101`
  const visit = (i: number) => client.link(shared, { headers: { 'x-forwarded-for': `203.0.113.${i}` } })
  let visitors = 0
  const joined: Promise<Response>[] = []
  const joining = setInterval(() => visitors < 30 && joined.push(visit(++visitors)), 200)
  assert.deepEqual(plain(await answerOf(await visit(0))), OVERLOAD)
  clearInterval(joining)
  assert.ok(visitors < 30, `${visitors} visitors joined`)
  for (const response of joined) assert.deepEqual(plain(await answerOf(await response)), OVERLOAD)
  // Usual images of others do not wait for heavy ones at all.
  const other = new ImageClient(service.url, (await service.newKey('otra', 'imagestore')).key)
  assert.equal((await other.upload(drawing(20, 20))).status, 200)
  stop.abort()
  await running
})

test('ordinary images do not wait while style sheets are read', { timeout: 300_000 }, async () => {
  await using service = await startService({ flags, limits: { ...limits, ...patient } })
  const client = new ImageClient(service.url, service.imageKey)
  const other = new ImageClient(service.url, (await service.newKey('otra', 'imagestore')).key)
  const stop = new AbortController()
  const uploads = new Settled()
  for (const bytes of styled) uploads.add(other.upload(bytes, {}, stop.signal))
  await eventually(async () => (await waiting(service)) === 2)
  for (let width = 1; width <= 5; width++) assert.equal((await client.upload(drawing(width, 20))).status, 200)
  assert.deepEqual([uploads.count, await metric(service, 'images_restarts_total')], [0, 0])
  stop.abort()
  await Promise.all(uploads.all)
})

test('uploads whose clients left while their images were in line, or being decoded, are dropped', async () => {
  await using service = await startService({ flags, limits: { imageQueue: 8, ...patient } })
  const client = new ImageClient(service.url, service.imageKey)
  const stop = new AbortController()
  const images = Array.from({ length: 4 }, (_, i) => endless(i))
  const left = images.map((image) => client.upload(image, {}, stop.signal).catch(() => undefined))
  // One is drawn, the others wait for its place among those that take long.
  const decoding = () => metric(service, 'images_decoding')
  await eventually(async () => (await waiting(service)) === 3 && (await decoding()) === 1)
  stop.abort()
  assert.deepEqual(
    await Promise.all(left),
    images.map(() => undefined),
  )
  await eventually(async () => (await waiting(service)) + (await decoding()) === 0)
  for (const image of images) assert.deepEqual(plain(await client.get(expectedHash(image))), NO_IMAGE)
})

test('a crowd of links', async (context) => {
  await using service = await startService({
    flags: { 'image-workers': '1', 'trusted-proxies': '127.0.0.1' },
  })
  const client = new ImageClient(service.url, service.imageKey)
  const photo = await noise(1_000, 700).jpeg().toBuffer()
  let thumbnail = 100
  const link = () => `${expectedHash(photo)}&m=w_${thumbnail++}`
  /** Work of seconds at its own size. */
  const large = await noise(3_000, 2_000).jpeg().toBuffer()
  for (const bytes of [photo, large]) assert.equal((await client.upload(bytes)).status, 200)
  const askFor = (from: string) => client.link(link(), { headers: { 'x-forwarded-for': from } })

  await context.test('a gallery of a hundred cold images never breaks on 100 connections', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 100 })
    const toStatus = () =>
      new Promise<number | undefined>((resolve, reject) => {
        get(`${service.url}/i/${link()}`, { agent }, (response) =>
          response.resume().on('end', () => resolve(response.statusCode)),
        ).on('error', reject)
      })
    const statuses = await Promise.all(Array.from({ length: 100 }, toStatus))
    assert.deepEqual(new Set(statuses), new Set([200]))
    agent.destroy()
  })

  await context.test('only a client with more than 200 waiting links is refused', async () => {
    let served = 0
    const work = Array.from({ length: 300 }, async () => {
      const response = await askFor('203.0.113.1')
      if (response.status === 200) served++
      await response.arrayBuffer()
      return [response.status, response.headers.get('retry-after')] as const
    })
    await eventually(async () => (await waiting(service)) >= 200)
    const before = served
    assert.equal((await askFor('203.0.113.2')).status, 200)
    assert.ok(served - before <= FEW, `${served - before} were served before`)
    const refused = (await Promise.all(work)).filter(([status]) => status !== 200)
    // Two were rendered at the start.
    assert.ok(refused.length > 0 && served >= 202, `${served} served`)
    assert.deepEqual(new Set(refused.map(String)), new Set(['503,1']))
  })

  // With a store behind a network, reads under way keep their places until they end.
  await context.test('abandoned requests are not rendered', async () => {
    const stop = new AbortController()
    const options = { headers: { 'x-forwarded-for': '203.0.113.9' }, signal: stop.signal }
    const left = Array.from({ length: 4 }, (_, i) =>
      client.link(`${expectedHash(large)}&m=w_${2_000 + i},f_avif`, options).catch(() => undefined),
    )
    await eventually(async () => (await waiting(service)) === 3)
    stop.abort()
    await Promise.all(left)
    await eventually(async () => (await waiting(service)) === 0)
    // There is room for as many again, once their resources are released.
    await eventually(async () => {
      const again = await Promise.all(Array.from({ length: 4 }, () => askFor('203.0.113.9')))
      await Promise.all(again.map((response) => response.arrayBuffer()))
      return again.every(({ status }) => status === 200)
    })
  })
})
