/** Much is asked over one TCP connection where a server takes that well, and by datagram where it does not. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { createResolver, type ResolverOptions } from '../../src/lib/dns/index.ts'
import { FLAG, ns, reply, startScriptedDns, type Asked, type Handler } from './scripted.ts'

const find: Handler = ({ name }) => ({ answers: [ns(name, `ns.${name}`)] })

async function setUp(
  t: TestContext,
  handler: Handler,
  connected?: (socket: Socket) => void,
  options: Partial<ResolverOptions> = {},
) {
  const connections: Socket[] = []
  const server = await startScriptedDns(handler, (socket) => {
    connections.push(socket)
    connected?.(socket)
  })
  const resolver = createResolver({
    servers: [{ address: '127.0.0.1', family: 4, port: server.port }],
    cache: new Map(),
    deadlineMs: 10_000,
    ...options,
  })
  t.after(async () => {
    await resolver.close()
    await server.stop()
  })
  let next = 0
  return {
    resolver,
    server,
    connections,
    over: (transport: Asked['transport']) => server.queries.filter((query) => query.transport === transport),
    /** Looks up this many new names concurrently, and checks every answer. */
    ask: async (count: number, inFlight: number) => {
      const end = next + count
      const run = async () => {
        while (next < end) {
          const name = `d${next++}.cl`
          assert.deepEqual(await resolver.nameServers(name), { kind: 'found', servers: [`ns.${name}`] })
        }
      }
      await Promise.all(Array.from({ length: inFlight }, run))
    },
  }
}

test('many queries share a connection and are answered in any order', async (t) => {
  const { ask, over, connections } = await setUp(t, async (asked) => {
    if (asked.transport === 'tcp' && asked.index % 3 === 0) await new Promise((done) => setTimeout(done, 2))
    return find(asked)
  })
  await ask(3_000, 300)
  // One; if the machine pauses for longer than the timeout of a query, another is made.
  assert.ok(connections.length >= 1 && connections.length <= 3, `${connections.length} connections`)
  assert.ok(over('tcp').length > 1_000, `${over('tcp').length} of 3,000`)
  assert.ok(new Set(over('tcp').map(({ id }) => id)).size > 900, 'ids vary')
})

for (const [what, inFlight, options] of [
  ['few questions', 31, {}],
  ['any number, where so set,', 300, { pipelines: false }],
] as const) {
  test(`${what} open no connection`, async (t) => {
    const { ask, connections } = await setUp(t, find, undefined, options)
    await ask(1_000, inFlight)
    assert.equal(connections.length, 0)
  })
}

const evil = (asked: Asked) =>
  reply(
    { ...asked, question: { ...asked.question, name: 'otro.cl' } },
    { answers: [ns('otro.cl', 'ns.evil.cl')] },
  )

/** In turn, as some resolvers work on what comes on a connection. */
function oneByOne(milliseconds: number): Handler {
  let last: Promise<unknown> = Promise.resolve()
  return async (asked) => {
    if (asked.transport === 'tcp') {
      last = last.then(() => new Promise((done) => setTimeout(done, milliseconds)))
      await last
    }
    return find(asked)
  }
}

const BAD: readonly [string, Handler, ((socket: Socket) => void)?][] = [
  ['closes connections at once', find, (socket) => socket.destroy()],
  ['never answers on a connection', (asked) => (asked.transport === 'tcp' ? 'silence' : find(asked))],
  [
    'falls silent on it after some answers',
    (asked) => (asked.transport === 'tcp' && asked.index > 80 ? 'silence' : find(asked)),
  ],
  ['answers another question', (asked) => (asked.transport === 'tcp' ? [evil(asked)] : find(asked))],
  ['works off a connection slowly', oneByOne(30)],
  [
    'closes after ten questions',
    find,
    (socket) => {
      let count = 0
      socket.on('data', () => {
        if (++count === 1) setImmediate(() => socket.destroy())
      })
    },
  ],
]
for (const [what, handler, connected] of BAD) {
  test(`a server that ${what} is queried over UDP instead, and TCP is not retried`, async (t) => {
    const { ask, connections, over } = await setUp(t, handler, connected)
    await ask(800, 200)
    for (let calls = 0; calls < 20 && connections.some((socket) => !socket.destroyed); calls++) {
      await ask(200, 200)
    }
    const before = over('tcp').length
    await ask(800, 200)
    assert.equal(connections.length, 1)
    assert.equal(over('tcp').length, before)
  })
}

test('a connection that the server closes after its share of queries is replaced', async (t) => {
  let answered = 0
  const { ask, connections, over } = await setUp(t, (asked) => {
    if (asked.transport === 'tcp' && ++answered % 200 === 0) connections.at(-1)?.end()
    return find(asked)
  })
  await ask(4_000, 300)
  assert.ok(connections.length > 1)
  assert.ok(over('tcp').length > 400)
})

test('a truncated response over TCP is a failure of that server', async (t) => {
  const { resolver, over } = await setUp(t, (asked) =>
    asked.transport === 'tcp' && asked.name.startsWith('largo') ? { flags: FLAG.TC } : find(asked),
  )
  const warm = Array.from({ length: 400 }, (_, i) => resolver.nameServers(`d${i}.cl`))
  await Promise.all(warm)
  await Promise.all(Array.from({ length: 400 }, (_, i) => resolver.nameServers(`e${i}.cl`)))
  assert.ok(over('tcp').length > 0)
  assert.deepEqual(await resolver.nameServers('largo.cl'), { kind: 'failed' })
})

test('an idle connection is closed', async (t) => {
  const { ask, connections } = await setUp(t, find)
  await ask(600, 200)
  const [socket] = connections
  assert.ok(socket)
  if (!socket.destroyed) await once(socket, 'close')
  await ask(600, 200)
  assert.equal(connections.length, 2)
})

test('close fails queries that wait on a connection', async (t) => {
  const { resolver, ask, over } = await setUp(t, (asked) =>
    asked.name.startsWith('mudo') ? 'silence' : find(asked),
  )
  await ask(600, 200)
  const before = over('tcp').length
  const waiting = Array.from({ length: 50 }, (_, i) => resolver.nameServers(`mudo${i}.cl`))
  await resolver.close()
  for (const answer of waiting) assert.deepEqual(await answer, { kind: 'failed' })
  assert.ok(before > 0)
})
