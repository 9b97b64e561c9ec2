import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { StreamLimiter } from './stream-limiter.ts'

const STALLED_MS = 1_000
const CHUNK = Buffer.alloc(65_536, '.')

/** Starts a server with endless responses, and a client of it. */
async function endless(streams: StreamLimiter) {
  let generated = 0
  const responses: ServerResponse[] = []
  const server = createServer((_request, response) => {
    const signal = streams.open(1, response)
    responses.push(response)
    const source = Readable.from(
      (async function* () {
        for (; !signal.aborted; generated += CHUNK.length) yield CHUNK
      })(),
      { highWaterMark: 1 },
    )
    source.pipe(response).once('close', () => source.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const socket = connect(address.port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  await once(server, 'request')
  const [response] = responses
  assert.ok(response !== undefined)
  return { server, socket, response, generated: () => generated }
}

test('a client that reads nothing is disconnected, and its buffer is limited', async () => {
  const streams = new StreamLimiter(4, STALLED_MS)
  const { server, socket, response, generated } = await endless(streams)
  socket.pause()
  await once(response, 'close', { signal: AbortSignal.timeout(30_000) })
  assert.equal(streams.count, 0)
  assert.ok(response.writableLength < 3 * CHUNK.length, `${response.writableLength} bytes are buffered`)
  // No more than fits in the socket buffers of both ends.
  assert.ok(generated() < 16 * 1024 * 1024, `${generated()} bytes were generated`)
  socket.destroy()
  server.close()
})

test('a slow client stays connected', async () => {
  const streams = new StreamLimiter(4, STALLED_MS)
  const { server, socket, response } = await endless(streams)
  let received = 0
  socket.on('data', (chunk) => {
    received += chunk.length
    socket.pause()
    setTimeout(() => socket.resume(), 1)
  })
  const end = performance.now() + 2 * STALLED_MS
  while (performance.now() < end) await once(socket, 'data')
  assert.equal(response.destroyed, false)
  assert.ok(received > 1024 * 1024)
  socket.destroy()
  server.close()
})
