import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, IncomingMessage, ServerResponse } from 'node:http'
import { connect, Socket } from 'node:net'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { OverloadError } from '../../lib/errors.ts'
import { EventStreams } from './streams.ts'

const STALLED_MS = 1_000
const CHUNK = Buffer.alloc(65_536, '.')

/** A server that sends without end to whoever asks, and one who asks. */
async function endless(streams: EventStreams) {
  let made = 0
  const responses: ServerResponse[] = []
  const server = createServer((_request, response) => {
    const signal = streams.open(1, response)
    responses.push(response)
    const source = Readable.from(
      (async function* () {
        for (; !signal.aborted; made += CHUNK.length) yield CHUNK
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
  return { server, socket, response, made: () => made }
}

test('who takes nothing is cut off; what waits for it is bounded', async () => {
  const streams = new EventStreams(4, STALLED_MS)
  const { server, socket, response, made } = await endless(streams)
  socket.pause()
  await once(response, 'close', { signal: AbortSignal.timeout(30_000) })
  assert.equal(streams.count, 0)
  assert.ok(response.writableLength < 3 * CHUNK.length, `${response.writableLength} bytes wait`)
  // The sockets' own buffers at both ends, and no more.
  assert.ok(made() < 16 * 1024 * 1024, `${made()} bytes were made`)
  socket.destroy()
  server.close()
})

test('an account has its share, and one that has fewer takes a place from those that have most', () => {
  const streams = new EventStreams(4, STALLED_MS, 3)
  const open = (account: number) =>
    streams.open(account, new ServerResponse(new IncomingMessage(new Socket())))
  const first = [open(1), open(1), open(1)]
  assert.throws(() => open(1), OverloadError)
  const second = open(2)
  const third = open(3)
  assert.deepEqual(
    [...first, second, third].map(({ aborted }) => aborted),
    [false, false, true, false, false],
  )
  // Each has what is its share: nobody takes more.
  assert.throws(() => open(2), OverloadError)
  assert.equal(streams.count, 4)
  streams.close()
})

test('who takes slowly stays', async () => {
  const streams = new EventStreams(4, STALLED_MS)
  const { server, socket, response } = await endless(streams)
  let taken = 0
  socket.on('data', (chunk) => {
    taken += chunk.length
    socket.pause()
    setTimeout(() => socket.resume(), 1)
  })
  const end = performance.now() + 2 * STALLED_MS
  while (performance.now() < end) await once(socket, 'data')
  assert.equal(response.destroyed, false)
  assert.ok(taken > 1024 * 1024)
  socket.destroy()
  server.close()
})
