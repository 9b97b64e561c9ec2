/** A link that was resolved before gets the same response as the first time, until its image changes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call } from '../support/http.ts'
import { bytesOf, expectedHash, gradient, ImageClient, noise } from '../support/images.ts'
import { startImages } from '../support/image-service.ts'
import { RawConnection } from '../support/raw.ts'
import { startService } from '../support/service.ts'

const photo = await gradient(600, 400).jpeg().toBuffer()
const hash = expectedHash(photo)
const ORIGIN = 'https://panel.ejemplo.cl'

const { service, client } = await startImages({
  flags: { 'trusted-proxies': '127.0.0.1', 'cors-origins': `${ORIGIN},https://otro.cl` },
})
await client.upload(photo)

let others = 0
/** Changes another image, so that links are resolved again. */
async function forget() {
  const { status } = await client.upload(await gradient(20, ++others).png().toBuffer())
  assert.equal(status, 200)
}

async function ask(path: string, init: RequestInit = {}) {
  const response = await client.link(path, init)
  const headers = [...response.headers].filter(([name]) => name !== 'date')
  return { status: response.status, headers, body: (await bytesOf(response)).toString('base64') }
}

/** The response to the first request after a change, and those to the next ones. */
async function assertSame(path: string, init: RequestInit, status: number) {
  await forget()
  const first = await ask(path, init)
  assert.equal(first.status, status)
  for (let i = 0; i < 3; i++) assert.deepEqual(await ask(path, init), first)
}

for (const [name, path] of [
  ['an original', hash],
  ['a derivative', `${hash}&m=w_80`],
  ['a derivative asked for in the query', `${hash}.webp?m=w_80`],
] as const) {
  for (const [kind, init] of [
    ['GET', {}],
    ['HEAD', { method: 'HEAD' }],
    ['from a page', { headers: { origin: ORIGIN } }],
    ['from a page that may not', { headers: { origin: 'https://ajeno.cl' } }],
  ] as const) {
    test(`${name}, ${kind}`, () => assertSame(path, init, 200))
  }

  test(`${name}: 304`, async () => {
    const etag = (await client.link(path)).headers.get('etag') ?? ''
    await assertSame(path, { headers: { 'if-none-match': etag } }, 304)
  })
}

for (const [path, init, status] of [
  [hash, { headers: { range: 'bytes=0-9' } }, 206],
  [hash, { method: 'POST' }, 405],
  [`${hash}&m=nada`, {}, 400],
  [`${hash}.nada`, {}, 404],
] as const) {
  test(`${init === undefined ? '' : JSON.stringify(init)} ${path}: ${status}`, () =>
    assertSame(path, init, status))
}

test('is logged and measured like others', async () => {
  await ask(hash)
  const before = (await service.log()).split('\n').length
  await ask(hash, { headers: { 'x-forwarded-for': '203.0.113.7' } })
  while ((await service.log()).split('\n').length < before + 1) await new Promise(setImmediate)
  const line: unknown = JSON.parse((await service.log()).trim().split('\n').at(-1) ?? '')
  assert.ok(typeof line === 'object' && line !== null && 'reqId' in line && 'ms' in line)
  const { msg, method, route, status, ip } = { msg: '', method: '', route: '', status: 0, ip: '', ...line }
  assert.deepEqual([msg, method, route, status, ip], ['request completed', 'GET', '/i/*', 200, '203.0.113.7'])
  const { text } = await call(service, '/metrics')
  assert.match(text, /catalejo_http_request_seconds_count{method="GET",route="\/i\/\*",status="200"} \d+/)
})

test('pipelined requests are answered in order, and the last one closes the connection if the client asks for it', async () => {
  await ask(hash)
  const connection = await RawConnection.open(service)
  const get = (path: string, lines = '', version = '1.1') =>
    `GET ${path} HTTP/${version}\r\nhost: x\r\n${lines}\r\n`
  const known = `if-none-match: "${hash}"\r\n`
  const link = `/i/${hash}`
  connection.send(
    get(link) + get(link, known) + get('/healthz') + get(link) + get(link, `${known}connection: close\r\n`),
  )
  const expected = [200, 304, 200, 200, 304]
  for (const [i, status] of expected.entries()) {
    const reply = await connection.reply()
    assert.equal(reply?.status, status)
    const isLast = i === expected.length - 1
    assert.equal(reply.headers['connection'], isLast ? 'close' : 'keep-alive')
    assert.equal(reply.headers['keep-alive'], isLast ? undefined : 'timeout=72')
    assert.ok(Math.abs(Date.parse(reply.headers['date'] ?? '') - Date.now()) < 10_000)
    if (i !== 2) assert.equal(reply.headers['etag'], `"${hash}"`)
  }
  await connection.closed()
  const old = await RawConnection.open(service)
  old.send(get(link, known, '1.0'))
  assert.equal((await old.reply())?.headers['connection'], 'close')
  await old.closed()
})

test('a slow reader gets the right bytes while others are served', async () => {
  await using service = await startService({ flags: { 'memory-cache': '0' } })
  const client = new ImageClient(service.url, service.imageKey)
  const images = await Promise.all([560, 561, 562].map((height) => noise(560, height).png().toBuffer()))
  for (const image of images) await client.upload(image)
  const slow = await Promise.all(
    images.map(async (image) => {
      const { socket } = await RawConnection.open(service)
      socket.removeAllListeners('data').pause()
      return { socket, image }
    }),
  )
  // More than the buffers between two sockets hold.
  const times = 14
  for (let round = 0; round < times; round++) {
    for (const { socket, image } of slow)
      socket.write(`GET /i/${expectedHash(image)} HTTP/1.1\r\nhost: x\r\n\r\n`)
    const bodies = await Promise.all(
      images.map(async (image) => client.link(expectedHash(image)).then(bytesOf)),
    )
    assert.deepEqual(bodies, images)
  }
  for (const { socket, image } of slow) {
    const chunks: Buffer[] = []
    const head = () => chunks[0]?.indexOf('\r\n\r\n') ?? 0
    let bytes = 0
    for await (const chunk of socket) {
      chunks.push(chunk)
      bytes += chunk.byteLength
      if (bytes >= times * (head() + 4 + image.byteLength)) break
    }
    const received = Buffer.concat(chunks)
    for (let i = 1; i <= times; i++) {
      const end = i * (head() + 4 + image.byteLength)
      assert.ok(received.subarray(end - image.byteLength, end).equals(image), `${i} of ${times}`)
    }
  }
})
