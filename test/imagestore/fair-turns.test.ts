/** Clients take turns at heavy images: no client waits for the queue of another, or indefinitely. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { answerOf, bytesOf, expectedHash, ImageClient, plain, problem } from '../support/images.ts'
import { BLOBS_VARIABLE } from '../support/s3.ts'
import { startService, type TestService } from '../support/service.ts'

const OVERLOAD = problem(503, 'El servicio está saturado, inténtelo de nuevo')
/** Requests of one client that is in no hurry to leave room. */
const MANY = 12
/** The maximum number of these served before a newcomer: those that run when it arrives. */
const FEW = 4

/** Heavy to draw, as anything with filters, and done within a fraction of a second; each in bytes of its own. */
const filtered = (number: number, octaves = 60) =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="600" height="600"><!-- ${number} -->
     <filter id="f"><feTurbulence baseFrequency="0.05" numOctaves="${octaves}"/></filter>
     <rect width="600" height="600" filter="url(#f)"/></svg>`,
  )

/** Takes minutes to draw. */
const endless = Buffer.from(
  `<svg xmlns="http://www.w3.org/2000/svg" width="4000" height="4000">
   <filter id="f"><feTurbulence baseFrequency="0.05" numOctaves="40"/></filter>
   ${'<rect width="4000" height="4000" filter="url(#f)"/>'.repeat(40)}</svg>`,
)

const times = (count: number, write: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => write(i)).join('')
/** Each selector is compared with each element, or each element with those before it: takes from seconds to minutes to read. */
const styled = [
  `<style>rect ~ rect ~ g ~ rect {}</style>${times(20_000, () => '<rect/>')}`,
  `<style>${times(6_000, (i) => `.c${i}{}`)}</style>${times(6_000, (i) => `<g class="c${i}"/>`)}`,
  `<style>g:nth-of-type(7) {}</style>${times(20_000, () => '<g/>')}`,
].map((content) =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40">${content}</svg>`),
)

const FLAGS = {
  'image-workers': '1',
  'image-wait': '200',
  'trusted-proxies': '127.0.0.1',
}
const LIMITS = { imageQueue: 32 }
// A balancer hides from the test which node a client is sent to.
const balanced = BLOBS_VARIABLE in process.env && 'behind a balancer'

/** Counts what has settled, so that the order in which clients are served shows. */
class Settled {
  count = 0
  readonly all: Promise<unknown>[] = []

  add(work: Promise<unknown>): void {
    this.all.push(work.catch(() => undefined).finally(() => this.count++))
  }
}

async function metric({ url }: TestService, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(new RegExp(`^catalejo_images_${name} (\\d+)`, 'm').exec(text)?.[1])
}

const waiting = (service: TestService) => metric(service, 'waiting')

suite('heavy images of many clients', { skip: balanced, timeout: 240_000 }, () => {
  let service: TestService
  let client: ImageClient
  const image = filtered(0)
  const hash = expectedHash(image)
  let width = 400

  before(async () => {
    service = await startService({ flags: FLAGS, limits: LIMITS })
    client = new ImageClient(service.url, service.imageKey)
    assert.equal((await client.upload(image)).status, 200)
  })
  after(() => service[Symbol.asyncDispose]())

  const ask = async (from: string, path: string, signal?: AbortSignal) => {
    const headers = { 'x-forwarded-for': from }
    const response = await client.link(path, { headers, signal: signal ?? null })
    return { status: response.status, bytes: await bytesOf(response) }
  }
  const fresh = () => `${hash}&m=w_${width++},f_png`

  async function flood(paths: readonly string[], addresses: readonly string[], signal?: AbortSignal) {
    const flood = new Settled()
    for (const [i, path] of paths.entries())
      flood.add(ask(addresses[i % addresses.length] ?? '', path, signal))
    await eventually(async () => (await waiting(service)) + flood.count >= paths.length - 2)
    return flood
  }
  const paths = () => Array.from({ length: MANY }, fresh)

  test('a visitor does not wait for the queue of another address', async () => {
    const others = await flood(paths(), ['203.0.113.1'])
    const before = others.count
    assert.equal((await ask('203.0.113.2', fresh())).status, 200)
    assert.ok(others.count - before <= FEW, `${others.count - before} were served before`)
    await Promise.all(others.all)
  })

  test('a visitor does not wait for several addresses of one IPv6 network', async () => {
    const network = Array.from({ length: MANY }, (_, i) => `2001:db8:0:1::${i + 1}`)
    const others = await flood(paths(), network)
    const before = others.count
    assert.equal((await ask('203.0.113.2', fresh())).status, 200)
    assert.ok(others.count - before <= FEW, `${others.count - before} were served before`)
    await Promise.all(others.all)
    const four = await flood(paths(), ['203.0.113.3', '203.0.113.4', '203.0.113.5', '203.0.113.6'])
    const earlier = four.count
    assert.equal((await ask('203.0.113.2', fresh())).status, 200)
    assert.ok(four.count - earlier <= FEW, `${four.count - earlier} were served before`)
    await Promise.all(four.all)
  })

  test("a request for a job in another client's queue runs in the turn of the requester", async () => {
    const wanted = paths()
    const last = wanted.at(-1) ?? ''
    const stop = new AbortController()
    const others = await flood(wanted, ['203.0.113.7'], stop.signal)
    const before = others.count
    const own = ask('203.0.113.8', last)
    // It is not lost when those leave who asked first.
    await own
    assert.ok(others.count - before <= FEW + 1, `${others.count - before} were served before`)
    const again = fresh()
    others.add(ask('203.0.113.7', again, stop.signal))
    const kept = ask('203.0.113.8', again)
    await eventually(async () => (await waiting(service)) > 0)
    stop.abort()
    assert.deepEqual([(await own).status, (await kept).status], [200, 200])
    await Promise.all(others.all)
  })

  test('uploads of one application delay neither another application nor a visitor', async () => {
    const other = new ImageClient(service.url, (await service.newKey('otra', 'imagestore')).key)
    const uploads = new Settled()
    for (let i = 1; i <= MANY; i++) uploads.add(other.upload(filtered(i)))
    await eventually(async () => (await waiting(service)) + uploads.count >= MANY - 2)
    const before = uploads.count
    const [upload, link] = await Promise.all([client.upload(filtered(-1)), ask('203.0.113.9', fresh())])
    assert.deepEqual([upload.status, link.status], [200, 200])
    assert.ok(uploads.count - before <= FEW + 1, `${uploads.count - before} were served before`)
    await Promise.all(uploads.all)
  })

  test('an ordinary image does not wait for large outputs whose cost is underestimated', async () => {
    const plain = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"/>')
    assert.equal((await client.upload(plain)).status, 200)
    const large = Array.from(
      { length: MANY },
      (_, i) => `${expectedHash(plain)}&m=w_${3_000 + i},h_2500,c_scale,up,blur_30,f_webp`,
    )
    const others = await flood(large, ['203.0.113.14'])
    const before = others.count
    assert.equal((await ask('203.0.113.15', `${expectedHash(plain)}&m=w_20`)).status, 200)
    assert.ok(others.count - before <= FEW, `${others.count - before} were served before`)
    await Promise.all(others.all)
  })
})

test('a long wait ends with 503', { skip: balanced, timeout: 300_000 }, async () => {
  await using service = await startService({
    flags: { ...FLAGS, 'image-wait': '1s' },
    limits: { ...LIMITS, imageTimeoutMs: 300_000 },
  })
  const client = new ImageClient(service.url, service.imageKey)
  const image = filtered(0, 2)
  assert.equal((await client.upload(image)).status, 200)
  const stop = new AbortController()
  const running = client.upload(endless, {}, stop.signal).catch(() => undefined)
  const decoding = async () =>
    /^catalejo_images_decoding 1$/m.test(await (await fetch(`${service.url}/metrics`)).text())
  await eventually(decoding)
  const link = await client.link(`${expectedHash(image)}&m=w_100`)
  const upload = await client.upload(filtered(1, 2))
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
  const usual = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"/>')
  const other = new ImageClient(service.url, (await service.newKey('otra', 'imagestore')).key)
  assert.equal((await other.upload(usual)).status, 200)
  stop.abort()
  await running
})

test(
  'ordinary images do not wait while style sheets are read',
  { skip: balanced, timeout: 300_000 },
  async () => {
    await using service = await startService({
      flags: FLAGS,
      limits: { ...LIMITS, imageTimeoutMs: 300_000 },
    })
    const client = new ImageClient(service.url, service.imageKey)
    const other = new ImageClient(service.url, (await service.newKey('otra', 'imagestore')).key)
    const stop = new AbortController()
    const uploads = new Settled()
    for (const bytes of styled) uploads.add(other.upload(bytes, {}, stop.signal))
    await eventually(async () => (await waiting(service)) === 2)
    for (let width = 1; width <= 5; width++) {
      const usual = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20"/>`
      assert.equal((await client.upload(Buffer.from(usual))).status, 200)
    }
    assert.deepEqual([uploads.count, await metric(service, 'restarts_total')], [0, 0])
    stop.abort()
    await Promise.all(uploads.all)
  },
)
