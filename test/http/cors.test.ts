import assert from 'node:assert/strict'
import { get } from 'node:http'
import { after, test } from 'node:test'
import { ENDPOINTS } from '../support/endpoints.ts'
import { call } from '../support/http.ts'
import { gradient, ImageClient } from '../support/images.ts'
import { startService } from '../support/service.ts'

const service = await startService()
after(() => service[Symbol.asyncDispose]())

const origin = 'https://panel.ejemplo.cl'

test('every endpoint may be called from any origin', async () => {
  for (const { method, path } of ENDPOINTS) {
    const { status, text, headers } = await call(service, path, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': 'content-type',
      },
    })
    assert.deepEqual([status, text], [204, ''], path)
    const allowed = ['origin', 'methods', 'headers'].map((name) =>
      headers.get(`access-control-allow-${name}`),
    )
    assert.deepEqual(allowed, ['*', 'GET, HEAD, POST, DELETE', 'content-type'], path)
    assert.equal(headers.get('access-control-max-age'), '86400')
  }
})

test('any origin may read responses and errors', async () => {
  for (const [path, status] of [
    [`/api/v1/domainwatch/list?api=${service.domainKey}`, 200],
    ['/api/v1/domainwatch/list', 401],
    ['/nada', 404],
  ] as const) {
    const reply = await call(service, path, { headers: { origin } })
    assert.equal(reply.status, status)
    assert.equal(reply.headers.get('access-control-allow-origin'), '*')
    assert.equal(reply.headers.get('access-control-expose-headers'), 'Link, Retry-After, ETag')
  }
})

test('an OPTIONS request that is not a preflight', async () => {
  const { status, text } = await call(service, '/healthz', { method: 'OPTIONS' })
  assert.deepEqual([status, text], [204, ''])
})

test('only the origins that are configured, with a single Vary header on every path', async () => {
  await using other = await startService({ flags: { 'cors-origins': `${origin}, https://otro.cl` } })
  for (const [from, allowed] of [
    [origin, origin],
    ['https://otro.cl', 'https://otro.cl'],
    ['https://ajeno.cl', null],
  ] as const) {
    const { headers } = await call(other, '/healthz', { headers: { origin: from } })
    assert.equal(headers.get('access-control-allow-origin'), allowed)
    assert.match(headers.get('vary') ?? '', /origin/i)
  }
  const client = new ImageClient(other.url, other.imageKey)
  const { body } = await client.upload(await gradient(30, 20).png().toBuffer())
  const link = `${other.url}/i/${String(body['hash'])}`
  const asked = { origin, accept: 'image/webp' }
  const { headers } = await client.link(`${String(body['hash'])}&m=w_9,f_auto`, { headers: asked })
  const etag = headers.get('etag') ?? ''
  // Answered before, from what is at hand, and once more after that; a range takes another way.
  for (const more of [{}, {}, { 'if-none-match': etag }, { range: 'bytes=0-3' }, { 'if-none-match': '*' }]) {
    const sent = { ...asked, ...more }
    assert.deepEqual(await varyLines(`${link}&m=w_9,f_auto`, sent), ['Origin, accept'])
    assert.deepEqual(await varyLines(link, sent), ['Origin'])
  }
  assert.deepEqual(await varyLines(`${other.url}/i/nada`, asked), ['Origin'])
})

/** Each separately, because some proxies look at one of several only. */
async function varyLines(url: string, headers: Readonly<Record<string, string>>): Promise<string[]> {
  const sent = get(url, { headers, agent: false })
  const raw = await new Promise<string[]>((resolve, reject) => {
    sent.on('error', reject).on('response', (response) => {
      response.resume().on('end', () => resolve(response.rawHeaders))
    })
  })
  return raw.filter((_value, i) => i % 2 === 1 && raw[i - 1]?.toLowerCase() === 'vary')
}

test('no origin at all', async () => {
  await using other = await startService({ flags: { 'cors-origins': '' } })
  const reply = await call(other, '/healthz', { headers: { origin } })
  assert.equal(reply.headers.get('access-control-allow-origin'), null)
  const preflight = await call(other, '/healthz', {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'GET' },
  })
  assert.deepEqual(preflight.body, { status: 405, msg: 'El método debe ser GET, HEAD' })
})
