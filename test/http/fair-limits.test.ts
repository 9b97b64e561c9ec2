/** What one client may take of the service's connections, time and log. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { parseError } from '../support/error-codes.ts'
import { ADD, LIST, record } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { call } from '../support/http.ts'
import { RawConnection } from '../support/raw.ts'
import { postFrom, stallBody } from '../support/senders.ts'
import { startService, type TestService } from '../support/service.ts'

const TOO_SLOW = { status: 408, msg: 'La solicitud tardó demasiado' }
const MIB = 1024 * 1024
const head = (path: string, length: number) =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-www-form-urlencoded\r\n` +
  `content-length: ${length}\r\n\r\n`

const service = await startService()
after(() => service[Symbol.asyncDispose]())

suite('a body in tiny chunks', () => {
  const start = (path: string) =>
    `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`

  test('is a 400, and the connection ends, if hundreds of thousands come together', async () => {
    const chunks = '1\r\n \r\n'.repeat(400_000)
    for (const path of [`${ADD}?api=${service.domainKey}`, ADD]) {
      const connection = await RawConnection.open(service)
      connection.send(start(path) + chunks)
      const reply = await connection.reply()
      assert.deepEqual(parseError(reply?.body), {
        status: 400,
        msg: 'La solicitud no es válida',
      })
      await connection.closed()
    }
    // The rest of a body is not waited for if its answer came first.
    const connection = await RawConnection.open(service)
    connection.send(start('/nada') + chunks)
    assert.equal((await connection.reply())?.status, 404)
    await connection.closed()
  })

  test('is accepted byte by byte, if thousands come together', async () => {
    const connection = await RawConnection.open(service)
    const text = JSON.stringify({ data: [record('trocitos')] }) + ' '.repeat(10_000)
    const chunks = [...text].map((letter) => `1\r\n${letter}\r\n`)
    connection.send(`${start(`${ADD}?api=${service.domainKey}`)}${chunks.join('')}0\r\n\r\n`)
    assert.equal((await connection.reply())?.body, '{"status":200,"count":1}')
    connection.close()
  })
})

suite('a slow body', { timeout: 300_000 }, () => {
  let service: TestService
  before(async () => {
    // The real limits are far lower, and over half a minute.
    service = await startService({ limits: { bodyMinBytesPerSecond: 100_000, bodyRateWindowMs: 1_000 } })
  })
  after(() => service[Symbol.asyncDispose]())

  test('is a 408, and the connection ends, with and without a key', async () => {
    const slow = ['', `?api=${service.domainKey}`].map(async (query) => {
      const connection = await RawConnection.open(service)
      connection.send(head(`${ADD}${query}`, MIB))
      // A quick start does not make up for standing still.
      connection.send(Buffer.alloc(MIB - 1, 'a'))
      const reply = await connection.reply()
      assert.deepEqual(parseError(reply?.body), TOO_SLOW)
      assert.equal(reply?.headers['connection'], 'close')
      await connection.closed()
    })
    await Promise.all(slow)
  })

  test('is not read indefinitely after a rejection', async () => {
    const connection = await RawConnection.open(service)
    connection.send(head(`/api/v1/imagestore/delete?api=${service.imageKey}`, MIB))
    assert.equal((await connection.reply())?.status, 413)
    connection.send('a')
    await connection.closed()
  })
})

suite('connections of one address', { timeout: 300_000 }, () => {
  let service: TestService
  before(async () => {
    service = await startService({
      flags: { 'trusted-proxies': '127.0.0.4' },
      limits: { clientConnections: 5 },
    })
  })
  after(() => service[Symbol.asyncDispose]())

  async function connections(from: string, count: number) {
    const opened = Array.from({ length: count }, () =>
      stallBody(service.url, from, 'GET /healthz HTTP/1.1\r\n', 0),
    )
    await Promise.all(opened.map(({ sent }) => sent))
    return opened
  }
  const add = {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: [record('casa')] }),
  }

  test('are limited, without affecting other addresses', async () => {
    const url = `${service.url}${ADD}?api=${service.domainKey}`
    const opened = await connections('127.0.0.2', 5)
    await assert.rejects(postFrom(url, { from: '127.0.0.2', ...add }), { code: 'ECONNRESET' })
    const surplus = await connections('127.0.0.2', 200)
    await Promise.all(surplus.map(({ closed }) => closed))
    assert.equal((await postFrom(url, { from: '127.0.0.3', ...add })).status, 200)
    const [first] = opened
    first?.socket.destroy()
    // The service hears of the end a moment later.
    await eventually(async () => {
      const { status } = await postFrom(url, { from: '127.0.0.2', ...add }).catch(() => ({ status: 0 }))
      return status === 200
    })
    for (const { socket } of opened) socket.destroy()
  })

  test('are not limited for a trusted proxy', async () => {
    const opened = await connections('127.0.0.4', 50)
    const url = `${service.url}${ADD}?api=${service.domainKey}`
    assert.equal((await postFrom(url, { from: '127.0.0.4', ...add })).status, 200)
    for (const { socket } of opened) socket.destroy()
  })
})

test('pipelined requests are answered up to a limit, beyond which the connection is closed', async () => {
  const get = `GET ${LIST}?api=${service.domainKey} HTTP/1.1\r\nhost: x\r\n\r\n`
  const modest = await RawConnection.open(service)
  modest.send(get.repeat(16))
  for (let i = 0; i < 16; i++) assert.equal((await modest.reply())?.status, 200)
  modest.close()
  const greedy = await RawConnection.open(service)
  greedy.send(get.repeat(5_000))
  await greedy.closed()
  assert.equal((await call(service, '/healthz')).status, 200)
})

test('pipelined requests take turns with those of other connections', async () => {
  const before = (await service.log()).length
  const [greedy, modest] = [await RawConnection.open(service), await RawConnection.open(service)]
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`
  // Now the service has accepted both.
  for (const connection of [greedy, modest]) {
    connection.send(get('/readyz'))
    await connection.reply()
  }
  greedy.send(get('/healthz').repeat(16))
  modest.send(get('/openapi.json'))
  await modest.reply()
  for (let i = 0; i < 16; i++) assert.equal((await greedy.reply())?.status, 200)
  for (const connection of [greedy, modest]) connection.close()
  const routes = [...(await service.log()).slice(before).matchAll(/"route":"(\/healthz|\/openapi.json)"/g)]
  assert.deepEqual(
    routes.map(([, route]) => route),
    ['/healthz', '/openapi.json', ...Array.from({ length: 15 }, () => '/healthz')],
  )
})

test('log lines of one address are limited, without affecting other addresses, with or without the port that a proxy adds', async () => {
  await using service = await startService({
    flags: { 'trusted-proxies': '127.0.0.1,192.0.2.9' },
    limits: { clientLogLines: 5 },
  })
  for (const client of ['192.0.2.1', '192.0.2.2'])
    for (let i = 0; i < 20; i++) await call(service, `/i/nada`, { headers: { 'x-forwarded-for': client } })
  const proxies = ['', ', 192.0.2.9:7']
  for (let port = 1; port <= 20; port++) {
    for (const address of ['198.51.100.1', '[2001:db8::1]']) {
      const forwarded = `${address}:${port}${proxies[port % 2]}`
      await call(service, '/i/nada', { headers: { 'x-forwarded-for': forwarded } })
    }
  }
  const lines = (await service.log()).split('\n').filter((line) => line.includes('"msg":"request completed"'))
  for (const client of ['192.0.2.1"', '192.0.2.2"', '198.51.100.1:', '[2001:db8::1]:'])
    assert.equal(lines.filter((line) => line.includes(`"ip":"${client}`)).length, 5, client)
})

test('errors count towards the log lines of their client', async () => {
  await using service = await startService({ limits: { clientLogLines: 5 } })
  const lines = async () =>
    (await service.log()).split('\n').filter((line) => line.includes('"reqId"')).length
  assert.equal(await lines(), 0)
  await service.sql('ALTER TABLE images RENAME TO no_images')
  for (let i = 0; i < 20; i++) {
    const { status } = await call(service, '/api/v1/imagestore/list', { query: { api: service.imageKey } })
    assert.equal(status, 500)
  }
  assert.equal(await lines(), 5)
})
