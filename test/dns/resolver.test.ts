import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { createResolver } from '../../src/dns/index.ts'
import type { Resolver, ResolverOptions } from '../../src/dns/index.ts'
import { FLAG, ns, RCODE, reply, soa, startScriptedDns } from './scripted.ts'
import type { Handler, ScriptedDns } from './scripted.ts'

interface Bench {
  readonly resolver: Resolver
  readonly servers: readonly ScriptedDns[]
}

/** A resolver with one scripted server for each handler; all of it ends with the test. */
async function setUp(
  t: TestContext,
  handlers: readonly Handler[],
  options: Partial<ResolverOptions> = {},
): Promise<Bench> {
  const servers = await Promise.all(handlers.map((handler) => startScriptedDns(handler)))
  const resolver = createResolver({
    servers: servers.map(({ port }) => ({ address: '127.0.0.1', family: 4, port })),
    deadlineMs: 2_000,
    retryMs: 100,
    ...options,
  })
  t.after(async () => {
    await resolver.close()
    await Promise.all(servers.map((server) => server.stop()))
  })
  return { resolver, servers }
}

const silence: Handler = () => 'silence'
const refuse: Handler = () => ({ rcode: RCODE.REFUSED })
const stumble: Handler = () => ({ rcode: RCODE.SERVFAIL })
const find: Handler = ({ name }) => ({ answers: [ns(name, 'ns1.hosting.cl')] })
const found = { kind: 'found', servers: ['ns1.hosting.cl'] }

async function elapsed(work: Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work
  return performance.now() - start
}

test('name servers come lower-cased, without final dot, sorted, each once', async (t) => {
  const { resolver } = await setUp(t, [
    ({ name }) => ({
      answers: [ns(name, 'NS2.Hosting.CL.'), ns(name, 'ns1.hosting.cl'), ns(name, 'ns2.hosting.cl')],
    }),
  ])
  const answer = await resolver.nameServers('registrado.cl')
  assert.deepEqual(answer, { kind: 'found', servers: ['ns1.hosting.cl', 'ns2.hosting.cl'] })
})

test('an IDN name is asked for in its A-label form', async (t) => {
  const { resolver, servers } = await setUp(t, [find])
  assert.deepEqual(await resolver.nameServers('xn--and-6ma2c.cl'), found)
  assert.equal(servers[0]?.queries[0]?.name, 'xn--and-6ma2c.cl')
})

test('the delegation that a parent server gives counts as found', async (t) => {
  const { resolver } = await setUp(t, [
    ({ name }) => ({ flags: 0, authorities: [ns(name, 'ns1.hosting.cl')] }),
  ])
  assert.deepEqual(await resolver.nameServers('registrado.cl'), found)
})

test('a name without name servers is empty, an absent one is no such name', async (t) => {
  const { resolver } = await setUp(t, [
    ({ name }) => ({
      rcode: name === 'libre.cl' ? RCODE.NXDOMAIN : 0,
      authorities: [soa('cl', 300, 300)],
    }),
  ])
  assert.deepEqual(await resolver.nameServers('www.registrado.cl'), { kind: 'empty' })
  assert.deepEqual(await resolver.nameServers('libre.cl'), { kind: 'no-such-name' })
})

test('NXDOMAIN is final: no other server is asked', async (t) => {
  const { resolver, servers } = await setUp(t, [() => ({ rcode: RCODE.NXDOMAIN }), find])
  assert.deepEqual(await resolver.nameServers('libre.cl'), { kind: 'no-such-name' })
  assert.equal(servers[1]?.queries.length, 0)
})

for (const [what, handler] of [
  ['SERVFAIL', stumble],
  ['REFUSED', refuse],
  ['a lame referral', () => ({ flags: 0, authorities: [ns('cl', 'a.nic.cl')] })],
  ['a referral to the root that claims recursion', () => ({ authorities: [ns('.', 'a.root-servers.net')] })],
  ['an empty answer from who neither owns nor recurses', () => ({ flags: 0 })],
  [
    'garbage after the question',
    (asked) => [garbled(reply(asked, { answers: [ns(asked.name, 'ns1.hosting.cl')] }))],
  ],
] satisfies [string, Handler][]) {
  test(`${what} from one server: the next is asked at once`, async (t) => {
    const { resolver, servers } = await setUp(t, [handler, find], { retryMs: 60_000, deadlineMs: 10_000 })
    assert.deepEqual(await resolver.nameServers('registrado.cl'), found)
    assert.equal(servers[1]?.queries.length, 1)
  })
}

/** Cuts the message in the middle of its last record, whose count stays. */
function garbled(message: Buffer): Buffer {
  return message.subarray(0, message.length - 6)
}

for (const [what, handlers, kind] of [
  ['SERVFAIL everywhere', [stumble, stumble], 'failed'],
  ['REFUSED everywhere', [refuse, refuse], 'refused'],
  ['REFUSED and SERVFAIL', [refuse, stumble], 'failed'],
  ['silence everywhere', [silence, silence], 'timeout'],
  ['silence and SERVFAIL', [silence, stumble], 'failed'],
  ['silence and REFUSED', [silence, refuse], 'timeout'],
  ['lame everywhere', [() => ({ flags: 0, authorities: [ns('cl', 'a.nic.cl')] })], 'failed'],
] satisfies [string, Handler[], string][]) {
  test(`${what}: ${kind}, within the deadline`, async (t) => {
    const { resolver } = await setUp(t, handlers, { deadlineMs: 300, retryMs: 50 })
    const took = await elapsed(
      resolver.nameServers('registrado.cl').then((answer) => assert.deepEqual(answer, { kind })),
    )
    assert.ok(took < 2_000, `${took} ms`)
  })
}

test('the default deadline is three seconds', async (t) => {
  const server = await startScriptedDns(silence)
  const resolver = createResolver({ servers: [{ address: '127.0.0.1', family: 4, port: server.port }] })
  t.after(() => Promise.all([resolver.close(), server.stop()]))
  const took = await elapsed(resolver.nameServers('mudo.cl'))
  assert.ok(took > 2_900 && took < 5_000, `${took} ms`)
  const ports = new Set(server.queries.map(({ id, port }) => `${id}/${port}`))
  assert.ok(ports.size > 2, 'retransmissions have ids and ports of their own')
})

test('a silent server delays by one retry interval, and later look-ups not at all', async (t) => {
  const { resolver, servers } = await setUp(t, [silence, find], { retryMs: 300, deadlineMs: 10_000 })
  const first = await elapsed(resolver.nameServers('uno.cl'))
  assert.ok(first >= 290 && first < 2_000, `${first} ms`)
  assert.deepEqual(await resolver.nameServers('dos.cl'), found)
  assert.deepEqual(
    servers[0]?.queries.map(({ name }) => name),
    ['uno.cl'],
  )
})

test('a server that is only busy is not asked again and again', async (t) => {
  const { resolver, servers } = await setUp(t, [
    async (asked) => {
      await new Promise((resolve) => setTimeout(resolve, 150))
      return find(asked)
    },
  ])
  const names = Array.from({ length: 30 }, (_, i) => `d${i}.cl`)
  for (let i = 0; i < 30; i += 10)
    await Promise.all(names.slice(i, i + 10).map((name) => resolver.nameServers(name)))
  const timesAsked = (name: string) => servers[0]?.queries.filter((query) => query.name === name).length
  assert.deepEqual([timesAsked('d0.cl'), timesAsked('d29.cl')], [2, 1])
})

test('a closed port is noticed at once, and the next server asked', async (t) => {
  const gone = await startScriptedDns(silence)
  await gone.stop()
  const alive = await startScriptedDns(find)
  const resolver = createResolver({
    servers: [gone.port, alive.port].map((port) => ({ address: '127.0.0.1', family: 4, port })),
    retryMs: 60_000,
    deadlineMs: 10_000,
  })
  t.after(() => Promise.all([resolver.close(), alive.stop()]))
  assert.deepEqual(await resolver.nameServers('registrado.cl'), found)
})

test('only closed ports: failed, without waiting for the deadline', async (t) => {
  const gone = await startScriptedDns(silence)
  await gone.stop()
  const resolver = createResolver({
    servers: [{ address: '127.0.0.1', family: 4, port: gone.port }],
    deadlineMs: 60_000,
    retryMs: 60_000,
  })
  t.after(() => resolver.close())
  assert.deepEqual(await resolver.nameServers('registrado.cl'), { kind: 'failed' })
})

test('a truncated answer is asked for again over TCP', async (t) => {
  const { resolver, servers } = await setUp(t, [
    (asked) => {
      if (asked.transport === 'udp') return { flags: FLAG.TC | FLAG.RA }
      const many = Array.from({ length: 2_000 }, (_, i) => ns(asked.name, `n${i}.cl`))
      return { answers: many }
    },
  ])
  const answer = await resolver.nameServers('grande.cl')
  assert.equal(answer.kind === 'found' && answer.servers.length, 2_000)
  assert.deepEqual(
    servers[0]?.queries.map(({ transport }) => transport),
    ['udp', 'tcp'],
  )
})

test('TCP that hangs ends at the deadline; another server helps out before', async (t) => {
  const hang: Handler = ({ transport }) => (transport === 'udp' ? { flags: FLAG.TC } : 'silence')
  const alone = await setUp(t, [hang], { deadlineMs: 300 })
  assert.deepEqual(await alone.resolver.nameServers('grande.cl'), { kind: 'timeout' })
  const helped = await setUp(t, [hang, find], { deadlineMs: 10_000 })
  assert.deepEqual(await helped.resolver.nameServers('grande.cl'), found)
})

test('TCP that answers garbage is a failure', async (t) => {
  const { resolver } = await setUp(t, [
    ({ transport }) => (transport === 'udp' ? { flags: FLAG.TC } : [Buffer.from('no dns at all')]),
  ])
  assert.deepEqual(await resolver.nameServers('grande.cl'), { kind: 'failed' })
})

test('forged datagrams are ignored and the true answer is taken', async (t) => {
  const evil = [ns('registrado.cl', 'ns.evil.cl')]
  const { resolver } = await setUp(t, [
    (asked) => [
      Buffer.alloc(0),
      Buffer.from([1, 2, 3]),
      reply({ ...asked, id: asked.id ^ 1 }, { answers: evil }),
      reply({ ...asked, question: { ...asked.question, name: 'otro.cl' } }, { answers: evil }),
      reply({ ...asked, question: { ...asked.question, type: 'A' } }, { answers: evil }),
      Buffer.concat([reply(asked, { answers: evil }).subarray(0, 2), Buffer.alloc(40)]),
      reply(asked, { answers: [ns(asked.name, 'ns1.hosting.cl')] }),
    ],
  ])
  assert.deepEqual(await resolver.nameServers('registrado.cl'), found)
})

test('an answer from another address or port is ignored', async (t) => {
  const elsewhere = createSocket('udp4')
  const otherAddress = createSocket('udp4')
  elsewhere.bind(0, '127.0.0.1')
  otherAddress.bind(0, '127.0.0.9')
  await Promise.all([once(elsewhere, 'listening'), once(otherAddress, 'listening')])
  t.after(() => {
    elsewhere.close()
    otherAddress.close()
  })
  const { resolver } = await setUp(t, [
    async (asked) => {
      const forged = reply(asked, { answers: [ns(asked.name, 'ns.evil.cl')] })
      for (const socket of [elsewhere, otherAddress]) {
        await new Promise((resolve) => socket.send(forged, asked.port, '127.0.0.1', resolve))
      }
      return find(asked)
    },
  ])
  assert.deepEqual(await resolver.nameServers('registrado.cl'), found)
})

test('ids and source ports vary', async (t) => {
  const { resolver, servers } = await setUp(t, [find], { pipelines: false })
  await Promise.all(Array.from({ length: 200 }, (_, i) => resolver.nameServers(`d${i}.cl`)))
  const queries = servers[0]?.queries ?? []
  assert.ok(new Set(queries.map(({ id }) => id)).size > 190)
  assert.equal(new Set(queries.map(({ port }) => port)).size, 16)
})

test('a source port is given up after 512 queries', async (t) => {
  const { resolver, servers } = await setUp(t, [find], { socketsPerServer: 1, pipelines: false })
  for (let i = 0; i < 1_100; i += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, j) => resolver.nameServers(`d${i + j}.cl`)))
  }
  assert.equal(new Set(servers[0]?.queries.map(({ port }) => port)).size, 3)
})

test('a server that does not know EDNS is asked without', async (t) => {
  const { resolver, servers } = await setUp(t, [
    (asked) => (asked.edns ? { rcode: RCODE.FORMERR } : find(asked)),
  ])
  assert.deepEqual(await resolver.nameServers('registrado.cl'), found)
  assert.deepEqual(
    servers[0]?.queries.map(({ edns }) => edns),
    [true, false],
  )
})

test('an answer lives as long as its least TTL', async (t) => {
  let now = 0
  const { resolver, servers } = await setUp(
    t,
    [({ name }) => ({ answers: [ns(name, 'ns1.hosting.cl', 60), ns(name, 'ns1.hosting.cl', 30)] })],
    { now: () => now },
  )
  await resolver.nameServers('registrado.cl')
  now = 29_999
  assert.deepEqual(await resolver.nameServers('registrado.cl'), found)
  assert.equal(servers[0]?.queries.length, 1)
  now = 30_000
  await resolver.nameServers('registrado.cl')
  assert.equal(servers[0]?.queries.length, 2)
})

test('a negative answer lives for the lesser of SOA TTL and minimum, a failure for two seconds', async (t) => {
  let now = 0
  const { resolver, servers } = await setUp(
    t,
    [
      ({ name }) =>
        name === 'roto.cl'
          ? { rcode: RCODE.SERVFAIL }
          : { rcode: RCODE.NXDOMAIN, authorities: [soa('cl', 100, 10)] },
    ],
    { now: () => now },
  )
  const asked = async (name: string, at: number): Promise<number | undefined> => {
    now = at
    await resolver.nameServers(name)
    return servers[0]?.queries.filter((query) => query.name === name).length
  }
  assert.equal(await asked('libre.cl', 0), 1)
  assert.equal(await asked('libre.cl', 9_999), 1)
  assert.equal(await asked('libre.cl', 10_000), 2)
  assert.equal(await asked('roto.cl', 20_000), 1)
  assert.equal(await asked('roto.cl', 21_999), 1)
  assert.equal(await asked('roto.cl', 22_000), 2)
})

test('equal questions in flight share one query', async (t) => {
  const { resolver, servers } = await setUp(t, [find])
  const answers = await Promise.all(Array.from({ length: 50 }, () => resolver.nameServers('registrado.cl')))
  for (const answer of answers) assert.deepEqual(answer, found)
  assert.equal(servers[0]?.queries.length, 1)
  const { coalesced, misses, inFlight, cached } = resolver.stats()
  assert.deepEqual(
    { coalesced, misses, inFlight, cached },
    { coalesced: 49, misses: 1, inFlight: 0, cached: 1 },
  )
})

test('past the bound a question is overloaded, and room comes back', async (t) => {
  const { promise: gate, resolve: open } = Promise.withResolvers<undefined>()
  const { resolver } = await setUp(
    t,
    [
      async (asked) => {
        await gate
        return find(asked)
      },
    ],
    { maxInFlight: 2 },
  )
  const first = [resolver.nameServers('a.cl'), resolver.nameServers('b.cl')]
  assert.deepEqual(await resolver.nameServers('c.cl'), { kind: 'overloaded' })
  open(undefined)
  assert.deepEqual(await Promise.all(first), [found, found])
  assert.deepEqual(await resolver.nameServers('c.cl'), found)
})

test('a name that no message can carry is a failure, not an exception', async (t) => {
  const { resolver, servers } = await setUp(t, [find])
  for (const name of ['', '.', 'a..cl', `${'a'.repeat(64)}.cl`, 'ñ.cl', `${'a.'.repeat(130)}cl`]) {
    assert.deepEqual(await resolver.nameServers(name), { kind: 'failed' }, name)
  }
  assert.equal(servers[0]?.queries.length, 0)
})

test('close ends what is in flight, and what comes later, as failed', async (t) => {
  const { resolver } = await setUp(t, [silence])
  const pending = resolver.nameServers('mudo.cl')
  await resolver.close()
  assert.deepEqual(await pending, { kind: 'failed' })
  assert.deepEqual(await resolver.nameServers('otro.cl'), { kind: 'failed' })
})
