import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { Stopping } from './stopping.ts'

const KEEP_ALIVE_MS = 300
/** Longer than any test. */
const NEVER_MS = 600_000

test('a connection is ended when nothing has happened on it for a while, and not before its answer', async () => {
  const stopping = new Stopping(KEEP_ALIVE_MS, NEVER_MS)
  const held: ServerResponse[] = []
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    stopping.take(request, response)
    if (request.url === '/held') held.push(response)
    else response.end('done')
  })
  stopping.watch(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const open = (path: string): Socket => {
    const socket = connect(address.port, '127.0.0.1')
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`)
    return socket
  }

  const busy = open('/held')
  while (held.length === 0) await once(server, 'request')
  const idle = open('/')
  const start = performance.now()
  await once(idle, 'data')
  await once(idle, 'close')
  // Timers count whole milliseconds.
  assert.ok(performance.now() - start > KEEP_ALIVE_MS - 2)

  assert.equal(busy.closed, false)
  held[0]?.end('done at last')
  const [answer]: unknown[] = await once(busy, 'data')
  assert.match(String(answer), /done at last$/)
  await once(busy, 'close')
  server.close()
  await once(server, 'close')
})

test('a connection is ended when nothing moves on it in the middle of an answer', async () => {
  const standstillMs = 100
  const stopping = new Stopping(KEEP_ALIVE_MS, standstillMs)
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    stopping.take(request, response)
    response.write('begun')
  })
  stopping.watch(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const client = connect(address.port, '127.0.0.1')
  client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  await once(client, 'data')
  await once(client, 'close')
  server.close()
  await once(server, 'close')
})
