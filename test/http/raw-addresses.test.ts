/** Clients that send the letters of an address as they are, such as curl. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, suite, test } from 'node:test'
import { parseError } from '../support/error-codes.ts'
import { ADD, LIST, record, stored } from '../support/domains.ts'
import { RawConnection } from '../support/raw.ts'
import { startService, type TestService } from '../support/service.ts'

const BAD = { status: 400, msg: 'La solicitud no es válida' }

suite('non-ASCII characters in a URL', () => {
  let service: TestService
  before(async () => {
    service = await startService()
    await stored(service, [record('ñandú'), record('nandu')])
  })
  after(() => service[Symbol.asyncDispose]())

  const found = (body = '') => Array.from(body.matchAll(/"name":"([^"]+)"/g), ([, name]) => name)
  const search = (text: string, headers = '') =>
    `GET ${LIST}?api=${service.domainKey}&search=${text} HTTP/1.1\r\nhost: x\r\n${headers}\r\n`

  test('are read as if they were escaped', async () => {
    const connection = await RawConnection.open(service)
    connection.send(search('ñandú'))
    const reply = await connection.reply()
    assert.equal(reply?.status, 200)
    assert.deepEqual(found(reply.body), ['ñandú'])
    assert.equal(reply.headers['connection'], 'close')
    await connection.closed()
  })

  test('also on a reused connection, and if the client half-closes', async () => {
    const connection = await RawConnection.open(service)
    connection.send(search('andu'))
    assert.deepEqual(found((await connection.reply())?.body), ['nandu'])
    connection.socket.end(search('ñ'))
    assert.deepEqual(found((await connection.reply())?.body), ['ñandú'])
    await connection.closed()
  })

  test('with a body that arrives together with or after them', async () => {
    const connection = await RawConnection.open(service)
    const body = JSON.stringify({ data: [record('ábaco')] })
    connection.send(
      `POST ${ADD}?api=${service.domainKey}&nota=ñ HTTP/1.1\r\nhost: x\r\n` +
        `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body.slice(0, 10)}`,
    )
    await new Promise((resolve) => setImmediate(resolve))
    connection.send(body.slice(10))
    assert.equal((await connection.reply())?.status, 200)
    const again = await RawConnection.open(service)
    again.send(search('ábaco'))
    assert.deepEqual(found((await again.reply())?.body), ['ábaco'])
  })

  test('in otherwise malformed requests they are rejected', async () => {
    for (const request of [
      `GET ${LIST}?search=ñ\u0001 HTTP/1.1\r\nhost: x\r\n\r\n`,
      `GET ${LIST}?search=ñ b HTTP/1.1\r\nhost: x\r\n\r\n`,
      `GET ${LIST}?search=ñ\r\nhost: x\r\n\r\n`,
      `GET ${LIST}?search=ñ HTTP/1.1\r\nhost: x\r\ncontent-length: x\r\n\r\n`,
    ]) {
      const connection = await RawConnection.open(service)
      connection.send(request)
      assert.deepEqual(parseError((await connection.reply())?.body), BAD, request)
      await connection.closed()
    }
  })
})

suite('connections with letters beyond ASCII in an address', () => {
  test('count once, and those above the limit are closed', async () => {
    await using service = await startService({ limits: { clientConnections: 3 } })
    const opened: RawConnection[] = []
    for (let i = 0; i < 3; i++) opened.push(await RawConnection.open(service))
    for (const connection of opened) connection.send('GET /healthz?ñ HTTP/1.1\r\n')
    // It may be reset before the client knows that it was open.
    await RawConnection.open(service).then(
      (surplus) => surplus.closed(),
      () => {},
    )
    for (const connection of opened) {
      connection.send('host: x\r\n\r\n')
      assert.equal((await connection.reply())?.status, 200)
    }
  })

  test('are answered although the service stops', async () => {
    await using service = await startService()
    const connection = await RawConnection.open(service)
    const received = once(service.app.server.server, 'request')
    connection.send(
      `POST /api/v1/imagestore/delete?api=${service.imageKey}&hash=ñ HTTP/1.1\r\nhost: x\r\n` +
        'content-type: application/json\r\ncontent-length: 13\r\n\r\n',
    )
    await received
    const idle = await RawConnection.open(service)
    const stopped = service.stop()
    await idle.closed()
    connection.send('{"hash":"xx"}')
    assert.equal((await connection.reply())?.status, 404)
    await connection.closed()
    await stopped
  })
})
