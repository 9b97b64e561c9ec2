import { parseError } from '../support/error-codes.ts'
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { readConfig } from '../../src/server/config/config.ts'
import { call } from '../support/http.ts'
import { RawConnection } from '../support/raw.ts'
import { startService } from '../support/service.ts'

const origin = 'https://panel.ejemplo.cl'
const service = await startService()
after(() => service[Symbol.asyncDispose]())

test('other origins cannot read the metrics', async () => {
  for (const path of ['/metrics', '/%6Detrics']) {
    const { status, headers } = await call(service, path, { headers: { origin } })
    assert.equal(status, 200)
    assert.deepEqual(
      [...headers.keys()].filter((name) => name.startsWith('access-control')),
      [],
    )
    assert.equal(headers.get('cache-control'), 'no-store')
  }
  const preflight = await call(service, '/metrics', {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'GET' },
  })
  assert.deepEqual(preflight.body, { status: 405, msg: 'El método debe ser GET, HEAD' })
  assert.equal(preflight.headers.get('access-control-allow-origin'), null)
})

test('requests that arrive together share one reading', async () => {
  const connections = await Promise.all(Array.from({ length: 30 }, () => RawConnection.open(service)))
  const ask = async (path: string) => {
    for (const connection of connections) connection.send(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`)
    return Promise.all(connections.map((connection) => connection.reply()))
  }
  // Now the service has accepted all connections.
  await ask('/healthz')
  const texts = (await ask('/metrics')).map((reply) => reply?.body)
  for (const connection of connections) connection.close()
  // Not all of them may arrive in the same turn of the event loop.
  assert.ok(new Set(texts).size < connections.length / 2)
  assert.match(texts[0] ?? '', /^catalejo_tasks_waiting 0$/m)
})

test('a separate address serves the metrics exclusively', async () => {
  await using separate = await startService({ flags: { 'metrics-address': '127.0.0.1:0' } })
  const url = /"address":"(http:[^"]*)","msg":"metrics listening"/.exec(await separate.log())?.[1] ?? ''
  const own = await fetch(url)
  assert.equal(own.status, 200)
  assert.equal(own.headers.get('access-control-allow-origin'), null)
  assert.match(await own.text(), /^catalejo_tasks_waiting 0$/m)
  assert.equal((await fetch(url, { method: 'HEAD' })).status, 200)
  for (const [path, method] of [
    ['/metrics', 'POST'],
    ['/healthz', 'GET'],
    ['/api/v1/domainwatch/list', 'GET'],
  ] as const) {
    const other = await fetch(new URL(path, url), { method })
    assert.deepEqual(
      [other.status, parseError(await other.text())],
      [404, { status: 404, msg: 'La dirección no existe' }],
    )
  }
  assert.equal((await call(separate, '/metrics')).status, 404)
  const document = await call(separate, '/openapi.json')
  assert.equal(document.text.includes('"/metrics"'), false)
})

test('an invalid address prevents the start', () => {
  for (const [text, value] of [
    ['127.0.0.1:9464', { host: '127.0.0.1', port: 9464 }],
    ['[::1]:9464', { host: '::1', port: 9464 }],
    ['localhost:0', { host: 'localhost', port: 0 }],
    ['', undefined],
  ] as const) {
    const read = readConfig({ 'metrics-address': text }, {})
    assert.deepEqual(read.ok && read.config.metricsAddress, value)
  }
  for (const text of ['9464', ':9464', '127.0.0.1', '127.0.0.1:65536', '[::g]:1', '::1:9464', 'a b:1']) {
    const read = readConfig({ 'metrics-address': text }, {})
    assert.deepEqual(!read.ok && read.faults, [
      `CATALEJO_METRICS_ADDRESS: «${text}» (flag --metrics-address) must be an address and a port, such as 127.0.0.1:9464 or [::1]:9464`,
    ])
  }
})
