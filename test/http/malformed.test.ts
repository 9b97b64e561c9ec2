import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { parseError } from '../support/error-codes.ts'
import { ADD } from '../support/domains.ts'
import { RawConnection } from '../support/raw.ts'
import { startService } from '../support/service.ts'

const service = await startService()
after(() => service[Symbol.asyncDispose]())

const BAD = { status: 400, msg: 'La solicitud no es válida' }
const HEADERS = { status: 431, msg: 'Las cabeceras de la solicitud son demasiado grandes' }
const LONG = { status: 414, msg: 'La dirección es demasiado larga' }

const REQUESTS: readonly [string, string | Buffer, { readonly status: number; readonly msg: string }][] = [
  ['noise', Buffer.from([0x16, 0x03, 0x01, 0x00, 0xff, 0x0d, 0x0a, 0x0d, 0x0a]), BAD],
  ['no method', ' / HTTP/1.1\r\n\r\n', BAD],
  ['an unknown method', 'HOLA / HTTP/1.1\r\nhost: x\r\n\r\n', BAD],
  ['half a version', 'GET / HTTP\r\n\r\n', BAD],
  ['an unknown version', 'GET / HTTP/9.9\r\nhost: x\r\n\r\n', BAD],
  ['a space in the address', 'GET /a b HTTP/1.1\r\nhost: x\r\n\r\n', BAD],
  ['a header without a colon', 'GET / HTTP/1.1\r\nhost: x\r\nhola\r\n\r\n', BAD],
  ['a header with NUL', 'GET / HTTP/1.1\r\nhost: x\r\na: \0\r\n\r\n', BAD],
  ['a length that is no number', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: x\r\n\r\n', BAD],
  ['a negative length', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n', BAD],
  ['two lengths', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab', BAD],
  [
    'a length and chunks',
    'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    BAD,
  ],
  ['a header of 40 KB', `GET / HTTP/1.1\r\nhost: x\r\na: ${'b'.repeat(40_000)}\r\n\r\n`, HEADERS],
  ['4,000 headers', `GET / HTTP/1.1\r\nhost: x\r\n${'a: bcdefghi\r\n'.repeat(4_000)}\r\n`, HEADERS],
  ['an address of 40 KB', `GET /${'a'.repeat(40_000)} HTTP/1.1\r\nhost: x\r\n\r\n`, LONG],
]

for (const [what, request, wanted] of REQUESTS) {
  test(`a request with ${what}: ${wanted.status} as JSON`, async () => {
    const connection = await RawConnection.open(service)
    connection.send(request)
    const reply = await connection.reply()
    assert.deepEqual(parseError(reply?.body), wanted)
    assert.equal(reply?.status, wanted.status)
    assert.equal(reply.headers['content-type'], 'application/json; charset=utf-8')
    // Nobody knows where the next request would begin.
    assert.equal(reply.headers['connection'], 'close')
    await connection.closed()
  })
}

test('a request without a host is refused in HTTP/1.1 only', async () => {
  const connection = await RawConnection.open(service)
  connection.send('GET /healthz HTTP/1.1\r\n\r\n')
  assert.deepEqual(parseError((await connection.reply())?.body), BAD)
  connection.send('GET /healthz HTTP/1.0\r\n\r\n')
  assert.equal((await connection.reply())?.body, '{"status":200}')
  await connection.closed()
})

test('a chunk of no size spoils the body', async () => {
  const connection = await RawConnection.open(service)
  connection.send(`POST ${ADD}?api=${service.domainKey} HTTP/1.1\r\nhost: x\r\n`)
  connection.send('content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n')
  assert.deepEqual(parseError((await connection.reply())?.body), BAD)
  await connection.closed()
})

test('a head that never ends is answered 408, and a body that makes progress may take as long as it needs', async () => {
  await using other = await startService({ limits: { bodyMinBytesPerSecond: 1, bodyRateWindowMs: 2_000 } })
  const { server } = other.app.server
  assert.equal(server.headersTimeout, 15_000)
  // Node's own limit on whole requests is off: no shorter one takes its place.
  assert.equal(server.requestTimeout, 0)
  // Far below the real bound, which stays as it is for all other tests of it.
  server.headersTimeout = 200
  const connection = await RawConnection.open(other)
  connection.send('GET /healthz HTTP/1.1\r\nhost: x\r\na: ')
  const reply = await connection.reply()
  assert.deepEqual(parseError(reply?.body), { status: 408, msg: 'La solicitud tardó demasiado' })
  await connection.closed()

  const slow = await RawConnection.open(other)
  const body = JSON.stringify({ data: [] }).padEnd(40)
  slow.send(`POST ${ADD}?api=${other.domainKey} HTTP/1.1\r\nhost: x\r\n`)
  slow.send(`content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`)
  // Longer than the interval in which Node looks for late requests.
  for (const letter of body) {
    slow.send(letter)
    await pause(150)
  }
  assert.notEqual((await slow.reply())?.status, 408)
  slow.close()
})
