/** Servers of feeds that are slow or hostile: they get an error of their own, and no other feed waits for them. */
import assert from 'node:assert/strict'
import { createServer, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { eventually } from '../support/eventually.ts'
import { allAttempted, feedsFile, feedStates, startWithFeeds } from '../support/feeds.ts'
import { temporaryFolder } from '../support/folder.ts'
import { names as recorded } from '../support/domains.ts'
import { listen } from '../support/listen.ts'
import { ManualClock, type TestService } from '../support/service.ts'

type Respond = (socket: Socket) => void

/** Starts a server that sends what a path says, byte by byte as it likes. */
async function startRawServer(respond: (path: string) => Respond) {
  /** Paths of the requests, in their order. */
  const requests: string[] = []
  const sockets = new Set<Socket>()
  let mostOpen = 0
  const server = createServer((socket) => {
    sockets.add(socket)
    mostOpen = Math.max(mostOpen, sockets.size)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.once('data', (head) => {
      const path = String(head).split(' ')[1] ?? ''
      requests.push(path)
      respond(path)(socket)
    })
  })
  after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return { requests, mostOpen: () => mostOpen, url: `http://127.0.0.1:${await listen(server)}` }
}

const sends =
  (...parts: readonly (string | Buffer)[]): Respond =>
  (socket) => {
    for (const part of parts) socket.write(part)
    socket.end()
  }
const head = (fields: string) => `HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n${fields}\r\n\r\n`
const good = (name: string) => sends(`${head(`content-length: ${name.length + 4}`)}${name}.cl\n`)

/** Sends a valid list without an end, a byte at a time. */
const drip: Respond = (socket) => {
  socket.write(head('connection: close'))
  const timer = setInterval(() => socket.write('a'), 20)
  socket.on('close', () => clearInterval(timer))
}

const feedAt = (url: string, name: string) => ({
  name,
  url: `${url}/${name}`,
  format: 'deletions',
  every: '5m',
  account: 'grupo',
})

async function startFetching(feeds: readonly unknown[], clock: ManualClock): Promise<TestService> {
  await using folder = await temporaryFolder()
  const path = await feedsFile(folder.path, feeds)
  return await startWithFeeds({ clock, flags: { feeds: path, 'webhook-networks': '127.0.0.0/8' } })
}

test('slow feeds delay no other feed, and few are fetched at a time', async () => {
  const slow = await startRawServer(() => drip)
  const quick = await startRawServer(() => good('buena'))
  const clock = new ManualClock('2026-03-01T12:00:00Z')
  const lentas = Array.from({ length: 6 }, (_, i) => feedAt(slow.url, `lenta${i}`))
  await using service = await startFetching([...lentas, feedAt(quick.url, 'buena')], clock)
  const successAt = (time: string) =>
    eventually(async () => (await feedStates(service)).at(-1)?.last_success === time, `a success at ${time}`)
  await eventually(() => slow.requests.length === 4, 'four slow downloads')
  for (const time of ['09:00:00', '09:05:00', '09:10:00', '09:15:00']) {
    await successAt(`2026-03-01 ${time}`)
    clock.advance(5 * 60_000)
  }
  await successAt('2026-03-01 09:20:00')
  assert.equal(quick.requests.length, 5)
  assert.deepEqual([slow.requests.length, slow.mostOpen()], [4, 4])
})

test('responses of a hostile server are rejected or limited', async () => {
  const MIB = 1024 * 1024
  const responses: Readonly<Record<string, Respond>> = {
    etag: sends(head(`etag: "${'x'.repeat(MIB)}"\r\ncontent-length: 8`), 'etag.cl\n'),
    // Kept out of the state, so the list is fetched again.
    'etag-largo': sends(head(`etag: "${'x'.repeat(5_000)}"\r\ncontent-length: 8`), 'otro.cl\n'),
    linea: sends(head(`content-length: ${8 * MIB + 9}`), 'x'.repeat(8 * MIB), '\nfina.cl\n'),
    corta: sends(head('content-length: 1000'), 'corta.cl\n'),
    larga: sends(head('content-length: 9'), 'larga.cl\n', 'sobra.cl\n'.repeat(1_000)),
    longitudes: sends(head('content-length: 3\r\ncontent-length: 9'), 'doble.cl\n'),
    negativa: sends(head('content-length: -1'), 'negativa.cl\n'),
    trozos: sends(head('transfer-encoding: chunked'), 'fffffffffffffffff\r\ntrozos.cl\n'),
    vueltas: sends('HTTP/1.1 302 Found\r\nlocation: /vueltas\r\n\r\n'),
    ida: sends('HTTP/1.1 302 Found\r\nlocation: /vuelta\r\n\r\n'),
    vuelta: sends('HTTP/1.1 302 Found\r\nlocation: /ida\r\n\r\n'),
    privada: sends('HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/\r\n\r\n'),
    archivo: sends('HTTP/1.1 302 Found\r\nlocation: file:///etc/passwd\r\n\r\n'),
    bomba: sends(
      head('content-encoding: gzip'),
      gzipSync(gzipSync(gzipSync(Buffer.alloc(20 * MIB, 'bomba.cl\n')))),
    ),
    brotli: sends(head('content-encoding: br'), 'x'),
    previas: sends('HTTP/1.1 100 Continue\r\n\r\n'.repeat(3), head('content-length: 8'), 'tres.cl\n'),
    'muchas-previas': sends(
      'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100),
      head('content-length: 8'),
      'cien.cl\n',
    ),
    'no-http': sends('SSH-2.0-OpenSSH_9.2\r\n'),
    nada: (socket) => void socket.destroy(),
  }
  const hostile = await startRawServer((path) => responses[path.slice(1)] ?? sends(''))
  const clock = new ManualClock('2026-03-01T12:00:00Z')
  const names = Object.keys(responses).filter((name) => name !== 'vuelta')
  await using service = await startFetching(
    names.map((name) => feedAt(hostile.url, name)),
    clock,
  )
  await allAttempted(service)
  const states = await feedStates(service)
  const cut = 'La descarga se cortó antes del final'
  const unconnected = (code: string) => `No se pudo conectar con el servidor (${code})`
  assert.deepEqual(Object.fromEntries(states.map(({ name, error }) => [name, error])), {
    etag: unconnected('HPE_HEADER_OVERFLOW'),
    'etag-largo': null,
    linea: null,
    corta: cut,
    larga: null,
    longitudes: unconnected('HPE_UNEXPECTED_CONTENT_LENGTH'),
    negativa: unconnected('HPE_INVALID_CONTENT_LENGTH'),
    trozos: cut,
    vueltas: 'El servidor redirige demasiadas veces',
    ida: 'El servidor redirige demasiadas veces',
    privada: 'La dirección no está permitida',
    archivo: 'La dirección no está permitida',
    bomba: 'Ninguna línea de la lista es válida',
    brotli: 'El servidor usa una compresión desconocida (br)',
    previas: null,
    'muchas-previas': 'No se pudo conectar con el servidor',
    'no-http': unconnected('HPE_INVALID_CONSTANT'),
    nada: unconnected('ECONNRESET'),
  })
  const linea = states.find(({ name }) => name === 'linea')
  assert.deepEqual([linea?.read, linea?.refused], [1, 1])
  assert.deepEqual(await recorded(service, { order: 'name', sort: 'asc' }), ['fina', 'larga', 'otro', 'tres'])
})
