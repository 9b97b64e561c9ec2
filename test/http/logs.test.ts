import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ADD, LIST } from '../support/domains.ts'
import { call, send } from '../support/http.ts'
import { startService } from '../support/service.ts'

const service = await startService()
after(() => service[Symbol.asyncDispose]())

/** Of requests other than what a balancer asks by itself. */
async function requestLines(): Promise<Record<string, unknown>[]> {
  const lines: Record<string, unknown>[] = (await service.log())
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
  return lines.filter(
    ({ msg, route, method }) => msg === 'request' && method !== 'HEAD' && route !== '/healthz',
  )
}

test('every request is one JSON line with an id, the route and no address', async () => {
  const before = new Set((await requestLines()).map(({ reqId }) => reqId))
  await call(service, LIST, { query: { api: service.domainKey, search: 'secreto' } })
  await call(service, '/i/secreto')
  await call(service, '/secreto?a=secreto')
  await send(service, ADD, { data: 'secreto' }, { query: { api: service.domainKey } })
  const added = (await requestLines()).filter(({ reqId }) => !before.has(reqId))
  // In no order: they may have reached several processes.
  assert.deepEqual(
    added.map(({ method, route, status, ip }) => [method, route, status, ip].join(' ')).toSorted(),
    [
      `GET ${LIST} 200 127.0.0.1`,
      'GET /i/* 404 127.0.0.1',
      'GET unknown 404 127.0.0.1',
      `POST ${ADD} 500 127.0.0.1`,
    ],
  )
  const ids = added.map(({ reqId }) => reqId)
  assert.equal(new Set(ids).size, 4)
  for (const id of ids) assert.equal(typeof id, 'string')
  for (const { ms, time } of added) assert.deepEqual([typeof ms, typeof time], ['number', 'number'])
  assert.equal((await service.log()).includes('secreto'), false)
})

test('requests are measured by route and status', async () => {
  // The key does nothing here but keep a balancer to one process, whose own the measurements are.
  const query = { api: service.domainKey }
  await call(service, '/nada-de-nada', { query })
  await call(service, LIST, { query })
  const { text, headers } = await call(service, '/metrics', { query })
  assert.match(headers.get('content-type') ?? '', /^text\/plain/)
  assert.match(text, /catalejo_http_request_seconds_count{method="GET",route="unknown",status="404"} \d+/)
  assert.match(
    text,
    /catalejo_http_request_seconds_count{method="GET",route="\/api\/v1\/domainwatch\/list",status="200"} \d+/,
  )
  assert.equal(text.includes('nada-de-nada'), false)
})

test('health and readiness', async () => {
  assert.deepEqual((await call(service, '/healthz')).body, { status: 200 })
  assert.deepEqual((await call(service, '/readyz')).body, { status: 200 })
})

test('not ready without its database, and healthy all the same', async () => {
  await using other = await startService()
  await other.loseDatabase()
  const { body, headers } = await call(other, '/readyz')
  assert.deepEqual(body, { status: 503, msg: 'El servicio no está listo' })
  assert.equal(headers.get('retry-after'), '1')
  assert.deepEqual((await call(other, '/healthz')).body, { status: 200 })
})

test('openapi.json names every endpoint', async () => {
  const { body } = await call(service, '/openapi.json')
  assert.ok(typeof body === 'object' && body !== null && 'paths' in body && 'openapi' in body)
  assert.match(String(body.openapi), /^3\.1\./)
  assert.ok(typeof body.paths === 'object' && body.paths !== null)
  for (const path of ['/healthz', '/readyz', '/metrics', LIST, ADD]) {
    assert.ok(path in body.paths, path)
  }
})
