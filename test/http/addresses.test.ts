import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { parseError } from '../support/error-codes.ts'
import { LIST, record, stored } from '../support/domains.ts'
import { ENDPOINTS } from '../support/endpoints.ts'
import { eventually } from '../support/eventually.ts'
import { call } from '../support/http.ts'
import { RawConnection } from '../support/raw.ts'
import { startService } from '../support/service.ts'

const service = await startService()
after(() => service[Symbol.asyncDispose]())

const UNKNOWN = { status: 404, msg: 'La dirección no existe' }

const UNKNOWN_PATHS = [
  '/nada',
  '/api',
  '/api/v1',
  '/api/v2/domainwatch/list',
  '/api/v1/domainwatch',
  '/api/v1/domainwatch/list/',
  '/api/v1/Domainwatch/list',
  '/api/v1/domainwatch/nada?api=x',
  '/i',
  '/healthz/',
  '/favicon.ico',
  '/w/x',
  '/w/x/y.atom',
  '/w/.atom.atom/',
  '/__proto__',
  '/constructor',
]

test('unknown paths are a 404 with any method', async () => {
  for (const path of UNKNOWN_PATHS)
    for (const method of ['GET', 'POST', 'PROPFIND']) {
      const { body, headers } = await call(service, path, { method })
      assert.deepEqual([body, headers.get('allow')], [UNKNOWN, null], `${method} ${path}`)
    }
})

const READABLE = ['/', '/healthz', '/readyz', '/metrics', '/openapi.json', '/i/x', '/w/x.atom']
const ALLOWED = new Map<string, string>(READABLE.map((path) => [path, 'GET, HEAD']))
for (const { path } of ENDPOINTS) {
  const methods = ENDPOINTS.filter((one) => one.path === path).map(({ method }) => method)
  const all = new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))
  ALLOWED.set(path, [...all].toSorted().join(', '))
}

test('other methods of a known path are a 405', async () => {
  const query = { api: service.domainKey }
  for (const [path, allow] of ALLOWED) {
    const methods = READABLE.includes(path) ? ['PATCH', 'PROPFIND', 'MKCOL', 'REPORT', 'QUERY'] : ['PUT']
    for (const method of ['GET', 'POST', 'DELETE', ...methods]) {
      if (allow.split(', ').includes(method)) continue
      const { body, headers } = await call(service, path, { method, query })
      const expected = { status: 405, msg: `El método debe ser ${allow}` }
      assert.deepEqual([body, headers.get('allow')], [expected, allow], `${method} ${path}`)
    }
  }
})

test('the type of an unused body does not matter', async () => {
  const options = { method: 'POST', headers: { 'content-type': ';;' }, body: 'x' }
  assert.deepEqual((await call(service, '/nada', options)).body, UNKNOWN)
  assert.equal((await call(service, '/healthz', options)).status, 405)
})

test('HEAD returns the headers of GET without a body', async () => {
  for (const [path, status] of [
    ['/healthz', 200],
    ['/nada', 404],
    ['/api/v1/domainwatch/list', 401],
    [`/api/v1/domainwatch/list?api=${service.domainKey}`, 200],
  ] as const) {
    const get = await call(service, path)
    const head = await call(service, path, { method: 'HEAD' })
    assert.deepEqual([get.status, head.status, head.text], [status, status, ''])
    assert.equal(head.headers.get('content-length'), get.headers.get('content-length'))
  }
  assert.equal((await call(service, '/api/v1/domainwatch/add', { method: 'HEAD' })).status, 405)
})

test('HEAD of an export reads no records', async () => {
  await stored(service, [record('exportado')])
  // Of this process: behind a balancer, another node may answer.
  const { baseUrl: url } = service.app
  const scans = async () => {
    const { text } = await call({ url }, '/metrics')
    return Number(/^catalejo_database_seconds_count\{operation="scan"\} (\d+)$/m.exec(text)?.[1] ?? 0)
  }
  const path = `/api/v1/domainwatch/export?api=${service.domainKey}&fields=note`
  const start = await scans()
  const { headers } = await call(service, path)
  assert.ok((await scans()) > start)
  const before = await scans()
  for (let i = 0; i < 20; i++) {
    const head = await call(service, path, { method: 'HEAD' })
    assert.deepEqual([head.status, head.text], [200, ''])
    assert.equal(head.headers.get('content-type'), headers.get('content-type'))
  }
  // Scans of an account run in their order, so those of the requests before this one would be over, too.
  await call(service, path)
  // The service itself may scan a little, too.
  assert.ok((await scans()) - before < 20)
})

/** As written in the request line, which an HTTP client would tidy up. */
const TARGETS: readonly [string, number, string][] = [
  ['/%', 400, 'La solicitud no es válida'],
  ['/i/%zz', 400, 'La solicitud no es válida'],
  ['/%c3%28', 400, 'La solicitud no es válida'],
  ['//', 404, 'La dirección no existe'],
  ['/%2e%2e/healthz', 404, 'La dirección no existe'],
  ['///healthz', 404, 'La dirección no existe'],
  ['/nada/../healthz', 404, 'La dirección no existe'],
  ['/i/..%2f..%2fetc%2fpasswd', 404, 'La imagen no existe'],
  ['/i/%00', 404, 'La imagen no existe'],
  ['/api/v1/domainwatch/list?api=%zz', 401, 'La clave de API no es válida'],
  ['/api/v1/domainwatch/list?%zz=%&&==&api', 401, 'Falta la clave de API'],
  [`/${'a'.repeat(8_191)}`, 404, 'La dirección no existe'],
  [`/${'a'.repeat(8_192)}`, 414, 'La dirección es demasiado larga'],
  [`/api/v1/domainwatch/list?${'%ff=%ff&'.repeat(255)}api=x`, 401, 'La clave de API no es válida'],
  [`/healthz?${'%ff=%ff&'.repeat(256)}api=x`, 400, 'La solicitud no es válida'],
  [`/i/${'a'.repeat(32)}?${'&'.repeat(256)}m=thumb`, 400, 'La solicitud no es válida'],
  [`/healthz?${'%ff&'.repeat(5_000)}`, 414, 'La dirección es demasiado larga'],
  [`/healthz?${'a'.repeat(20_000)}`, 414, 'La dirección es demasiado larga'],
]

for (const [target, status, msg] of TARGETS) {
  test(`the target ${target.slice(0, 60)}: ${status}, and the connection stays open`, async () => {
    const connection = await RawConnection.open(service)
    connection.send(`GET ${target} HTTP/1.1\r\nhost: x\r\n\r\n`)
    const reply = await connection.reply()
    assert.deepEqual(parseError(reply?.body), { status, msg })
    assert.equal(reply?.status, status)
    connection.send('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
    assert.equal((await connection.reply())?.body, '{"status":200}')
    connection.close()
  })
}

test('octets of a query that are not UTF-8 are replaced', async () => {
  for (const [search, query] of [
    ['casa+%63hica', 'casa chica'],
    ['casa+%63hica&x=%ff', 'casa chica'],
    ['%ff+%C3%B1%', '\ufffd ñ%'],
  ]) {
    const { body } = await call(service, `${LIST}?api=${service.domainKey}&search=${search}`)
    assert.equal(Object(body).query, query)
  }
})

test('a malformed address is logged, and pages may read the error', async () => {
  const { status, headers } = await call(service, '/i/%zz', { headers: { origin: 'https://ejemplo.cl' } })
  assert.equal(status, 400)
  assert.equal(headers.get('access-control-allow-origin'), '*')
  await eventually(async () => /"route":"unknown","status":400,/.test(await service.log()))
})

test('an absolute URL in the request line is served by its path', async () => {
  const connection = await RawConnection.open(service)
  const ask = async (method: string, address: string) => {
    connection.send(`${method} ${address} HTTP/1.1\r\nhost: ejemplo.cl\r\n\r\n`)
    return connection.reply()
  }
  assert.equal((await ask('GET', 'http://ejemplo.cl/healthz'))?.body, '{"status":200}')
  assert.equal((await ask('PUT', 'http://ejemplo.cl/healthz'))?.headers['allow'], 'GET, HEAD')
  connection.close()
})

test('OPTIONS * is answered', async () => {
  const connection = await RawConnection.open(service)
  connection.send('OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n')
  assert.equal((await connection.reply())?.status, 204)
  connection.close()
})
