/** Clients that request more than they read: what waits to be sent to them takes a limited part of the memory. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, before, suite, test } from 'node:test'
import { LIST, record, stored, update } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { call } from '../support/http.ts'
import { RawConnection } from '../support/raw.ts'
import { startService, type TestService } from '../support/service.ts'

/** As many as one connection may pipeline. */
const PIPELINED = 16
/** With a page each, they hold more than the service may hold. */
const CONNECTIONS = 48
const RECORDS = 1_024
/** The longest note: a page of them has 3 MB. */
const NOTE = '域'.repeat(1_000)

suite('responses that are not read', { timeout: 300_000 }, () => {
  let service: TestService
  const sockets: Socket[] = []

  before(async () => {
    service = await startService()
    const records = Array.from({ length: RECORDS }, (_, i) => record(`nota-${i}`))
    await stored(service, records)
    const notes = records.map(({ domain }) => ({ domain, note: NOTE }))
    for (let from = 0; from < RECORDS; from += 512)
      assert.equal((await update(service, notes.slice(from, from + 512), { encoding: 'json' })).status, 200)
  })
  after(async () => {
    for (const socket of sockets) socket.destroy()
    await service[Symbol.asyncDispose]()
  })

  /** Sends requests and reads nothing yet. */
  async function ask(path: string, count: number): Promise<Socket> {
    const { hostname, port } = new URL(service.url)
    const socket = connect(Number(port), hostname).on('error', () => {})
    sockets.push(socket.pause())
    await once(socket, 'connect')
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`.repeat(count))
    return socket
  }

  const page = (key: string) => `${LIST}?api=${key}&limit=${RECORDS}&fields=all`

  test('cost the client that holds most of them its connections, and no other client', async () => {
    const { key } = await service.newKey('vecino', 'domainwatch')
    const neighbour = await RawConnection.open(service)
    neighbour.socket.pause()
    neighbour.send(`GET ${page(key)} HTTP/1.1\r\nhost: x\r\n\r\n`.repeat(2))
    // The operating system accepts the first page of a connection, and the service holds the second.
    for (let i = 0; i < CONNECTIONS; i++) await ask(page(service.domainKey), 2)
    await eventually(async () => /route":"[^"]*list","status":499/.test(await service.log()))
    neighbour.socket.resume()
    for (let i = 0; i < 2; i++) {
      const reply = await neighbour.reply()
      assert.equal(reply?.status, 200)
      assert.equal(JSON.parse(reply.body).count, RECORDS)
    }
    neighbour.close()
  })

  test('take turns with other requests while they are made', async () => {
    const { database } = service.app.context
    const readerOf = database.readerOf.bind(database)
    let pages = 0
    database.readerOf = (client) => {
      pages++
      return readerOf(client)
    }
    for (let i = 0; i < 4; i++) (await ask(page(service.domainKey), PIPELINED)).resume()
    await eventually(() => pages > 0)
    assert.equal((await call(service, '/healthz')).status, 200)
    assert.ok(pages < PIPELINED, `${pages} pages came first`)
    database.readerOf = readerOf
  })
})
