/** What every answer says to caches and browsers, and requests that a proxy could read in another way than the service. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { parseError } from '../support/error-codes.ts'
import { ADD, EVENTS, LIST, record, stored } from '../support/domains.ts'
import { call } from '../support/http.ts'
import { gradient, ImageClient } from '../support/images.ts'
import { RawConnection } from '../support/raw.ts'
import { startService } from '../support/service.ts'

const service = await startService()
after(() => service[Symbol.asyncDispose]())

const marks = (headers: Headers) => [headers.get('cache-control'), headers.get('x-content-type-options')]
const PRIVATE = ['no-store', 'nosniff']

test('cached responses and streams are private, as all responses that need a key, and public links are not', async () => {
  await stored(service, [record('casa')])
  const client = new ImageClient(service.url, service.imageKey)
  const hash = String((await client.upload(await gradient(20, 20).png().toBuffer())).body['hash'])
  const image = { api: service.imageKey, hash }
  for (let i = 0; i < 3; i++) {
    for (const [path, query] of [
      [LIST, { api: service.domainKey, limit: '1' }],
      ['/api/v1/imagestore/get', image],
      ['/api/v1/domainwatch/export', { api: service.domainKey, format: 'csv' }],
      [EVENTS, { api: service.domainKey, format: 'atom' }],
    ] as const) {
      const { status, headers } = await call(service, path, { query })
      assert.equal(status, 200)
      assert.deepEqual(marks(headers), PRIVATE, path)
    }
    const link = await client.link(hash)
    assert.match(link.headers.get('cache-control') ?? '', /^public, max-age=/)
    assert.equal(link.headers.get('x-content-type-options'), 'nosniff')
  }
})

test('errors before routing are private too', async () => {
  const connection = await RawConnection.open(service)
  connection.send('GET /a b HTTP/1.1\r\nhost: x\r\n\r\n')
  const headers = (await connection.reply())?.headers
  assert.deepEqual([headers?.['cache-control'], headers?.['x-content-type-options']], PRIVATE)
})

const BAD = { status: 400, msg: 'La solicitud no es válida' }
const HOSTS: readonly [string, number][] = [
  ['host: a\r\nhost: b\r\n', 400],
  ['host: a\r\nHOST: a\r\n', 400],
  ['host: a, b\r\n', 400],
  ['host: a/b\r\n', 400],
  ['host: yo@a\r\n', 400],
  ['host: a:b\r\n', 400],
  ['host: [::1\r\n', 400],
  ['host: x\r\n', 200],
  ['host: sub_dominio.ejemplo.cl:8080\r\n', 200],
  ['host: [::1]:8080\r\n', 200],
  ['host:\r\n', 200],
]

test('a Host header that is repeated or malformed is a 400 on every path through the service', async () => {
  const list = `${LIST}?api=${service.domainKey}&limit=1`
  for (const [lines, status] of HOSTS)
    for (const path of ['/healthz', list, list, '/i/nada'])
      for (const version of ['1.0', '1.1']) {
        const connection = await RawConnection.open(service)
        connection.send(`GET ${path} HTTP/${version}\r\n${lines}\r\n`)
        const reply = await connection.reply()
        assert.equal(reply?.status, status === 200 && path === '/i/nada' ? 404 : status, `${lines} ${path}`)
        if (status === 400) assert.deepEqual(parseError(reply?.body), BAD)
        connection.close()
      }
})

const JSON_BODY = JSON.stringify({ data: [record('comprimido')] })
const ENCODED = {
  status: 415,
  msg: 'El cuerpo de la solicitud debe venir sin comprimir, con Content-Encoding identity',
}

test('a body with a content encoding is a 415, after the key check', async () => {
  const body = new Uint8Array(gzipSync(JSON_BODY))
  for (const encoding of ['gzip', 'br', 'identity, gzip', 'GZIP', 'nada']) {
    const headers = { 'content-type': 'application/json', 'content-encoding': encoding }
    const good = await call(service, ADD, { query: { api: service.domainKey }, headers, body })
    assert.deepEqual(good.body, ENCODED)
    assert.equal(good.headers.get('accept-encoding'), 'identity')
    const small = { query: { api: service.imageKey }, headers, body }
    assert.deepEqual((await call(service, '/api/v1/imagestore/delete', small)).body, ENCODED)
    const none = await call(service, ADD, { headers, body })
    assert.deepEqual(none.body, { status: 401, msg: 'Falta la clave de API' })
    const bad = await call(service, ADD, { query: { api: 'mala' }, headers, body })
    assert.deepEqual(bad.body, { status: 401, msg: 'La clave de API no es válida' })
  }
})

test('an unsupported transfer coding is a 415 too', async () => {
  const connection = await RawConnection.open(service)
  const body = gzipSync(JSON_BODY)
  connection.send(
    `POST ${ADD}?api=${service.domainKey} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n`,
  )
  connection.send(`transfer-encoding: gzip, chunked\r\n\r\n${body.length.toString(16)}\r\n`)
  connection.send(Buffer.concat([body, Buffer.from('\r\n0\r\n\r\n')]))
  assert.deepEqual(parseError((await connection.reply())?.body), ENCODED)
  connection.close()
})

test('identity, and a header without a body, are accepted as unencoded', async () => {
  const headers = { 'content-type': 'application/json', 'content-encoding': 'identity' }
  const query = { api: service.domainKey }
  assert.deepEqual((await call(service, ADD, { query, headers, body: JSON_BODY })).body, {
    status: 200,
    count: 1,
  })
  const empty = {
    method: 'DELETE',
    query: { api: service.imageKey },
    headers: { 'content-encoding': 'gzip' },
  }
  assert.equal((await call(service, '/api/v1/imagestore/delete', empty)).status, 404)
})
