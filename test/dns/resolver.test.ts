import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createResolver } from '../../src/lib/dns/index.ts'
import { elapsed, find, found, refuse, setUp, silence, answerServfail } from './resolver-bench.ts'
import { ns, RCODE, reply, startScriptedDns, type Handler } from './scripted.ts'

/** Ten times the longest deadline. */
const TEST_TIMEOUT_MS = 30_000

test('NXDOMAIN is final: no other server is queried', async (t) => {
  const { resolver, servers } = await setUp(t, [() => ({ rcode: RCODE.NXDOMAIN }), find])
  assert.deepEqual(await resolver.nameServers('libre.cl'), { kind: 'no-such-name' })
  assert.equal(servers[1]?.queries.length, 0)
})

for (const [what, handler] of [
  ['SERVFAIL', answerServfail],
  ['REFUSED', refuse],
  ['a lame referral', () => ({ flags: 0, authorities: [ns('cl', 'a.nic.cl')] })],
  ['a referral to the root that claims recursion', () => ({ authorities: [ns('.', 'a.root-servers.net')] })],
  ['an empty answer from who neither owns nor recurses', () => ({ flags: 0 })],
  [
    'garbage after the question',
    (asked) => [garbled(reply(asked, { answers: [ns(asked.name, 'ns1.hosting.cl')] }))],
  ],
] satisfies [string, Handler][]) {
  test(`${what} from one server: the next is queried immediately`, async (t) => {
    const { resolver, servers } = await setUp(t, [handler, find])
    assert.deepEqual(await resolver.nameServers('registrado.cl'), found)
    assert.equal(servers[1]?.queries.length, 1)
  })
}

/** Cuts the message in the middle of its last record, whose count stays. */
function garbled(message: Buffer): Buffer {
  return message.subarray(0, message.length - 6)
}

for (const [what, handlers, kind] of [
  ['SERVFAIL everywhere', [answerServfail, answerServfail], 'failed'],
  ['REFUSED everywhere', [refuse, refuse], 'refused'],
  ['REFUSED and SERVFAIL', [refuse, answerServfail], 'failed'],
  ['silence everywhere', [silence, silence], 'timeout'],
  ['silence and SERVFAIL', [silence, answerServfail], 'failed'],
  ['silence and REFUSED', [silence, refuse], 'timeout'],
  ['lame everywhere', [() => ({ flags: 0, authorities: [ns('cl', 'a.nic.cl')] })], 'failed'],
] satisfies [string, Handler[], string][]) {
  test(`${what}: ${kind}, within the deadline`, { timeout: TEST_TIMEOUT_MS }, async (t) => {
    // Long enough for a response on a busy machine, unless the result is the same without one.
    const deadlineMs = kind === 'timeout' ? 300 : 3_000
    const { resolver } = await setUp(t, handlers, { deadlineMs, retryMs: 50 })
    assert.deepEqual(await resolver.nameServers('registrado.cl'), { kind })
  })
}

test('the default deadline is three seconds', async (t) => {
  const server = await startScriptedDns(silence)
  const resolver = createResolver({
    servers: [{ address: '127.0.0.1', family: 4, port: server.port }],
    cache: new Map(),
  })
  t.after(() => {
    resolver.close()
    return server.stop()
  })
  const took = await elapsed(resolver.nameServers('mudo.cl'))
  assert.ok(took > 2_900 && took < TEST_TIMEOUT_MS, `${took} ms`)
  const ports = new Set(server.queries.map(({ id, port }) => `${id}/${port}`))
  assert.ok(ports.size > 2, 'retransmissions have ids and ports of their own')
})

test('a silent server delays by one retry interval, and later look-ups not at all', async (t) => {
  const retryMs = 1_000
  const { resolver, servers } = await setUp(t, [silence, find], { retryMs })
  const first = await elapsed(resolver.nameServers('uno.cl'))
  assert.ok(first >= 0.95 * retryMs && first < TEST_TIMEOUT_MS, `${first} ms`)
  assert.deepEqual(await resolver.nameServers('dos.cl'), found)
  assert.deepEqual(
    servers[0]?.queries.map(({ name }) => name),
    ['uno.cl'],
  )
})

test('a closed port is detected immediately, and the next server queried', async (t) => {
  const gone = await startScriptedDns(silence)
  await gone.stop()
  const alive = await startScriptedDns(find)
  const resolver = createResolver({
    servers: [gone.port, alive.port].map((port) => ({ address: '127.0.0.1', family: 4, port })),
    cache: new Map(),
    retryMs: 60_000,
    deadlineMs: 10_000,
  })
  t.after(() => {
    resolver.close()
    return alive.stop()
  })
  assert.deepEqual(await resolver.nameServers('registrado.cl'), found)
})

test('only closed ports: failed, without waiting for the deadline', async (t) => {
  const gone = await startScriptedDns(silence)
  await gone.stop()
  const resolver = createResolver({
    servers: [{ address: '127.0.0.1', family: 4, port: gone.port }],
    cache: new Map(),
    deadlineMs: 60_000,
    retryMs: 60_000,
  })
  t.after(() => resolver.close())
  assert.deepEqual(await resolver.nameServers('registrado.cl'), { kind: 'failed' })
})

test('a name that cannot be encoded is a failure, not an exception', async (t) => {
  const { resolver, servers } = await setUp(t, [find])
  for (const name of ['', '.', 'a..cl', `${'a'.repeat(64)}.cl`, 'ñ.cl', `${'a.'.repeat(130)}cl`]) {
    assert.deepEqual(await resolver.nameServers(name), { kind: 'failed' }, name)
  }
  assert.equal(servers[0]?.queries.length, 0)
})

test('close fails look-ups in flight and later ones', async (t) => {
  const { resolver } = await setUp(t, [(asked) => (asked.name === 'b.cl' ? find(asked) : 'silence')])
  const [first, second, ...others] = ['a.cl', 'b.cl', 'c.cl', 'd.cl'].map((name) =>
    resolver.nameServers(name),
  )
  assert.deepEqual(await second, found)
  resolver.close()
  for (const pending of [first, ...others]) assert.deepEqual(await pending, { kind: 'failed' })
  assert.deepEqual(await resolver.nameServers('otro.cl'), { kind: 'failed' })
})

test('a failure that is read after the deadline ends the look-up without a negative timeout', async (t) => {
  const deadlineMs = 3_000
  const bothAsked = Promise.withResolvers<undefined>()
  const { resolver } = await setUp(
    t,
    [
      async (asked) => {
        if (asked.index === 1) bothAsked.resolve(undefined)
        await bothAsked.promise
        return asked.index === 0 ? find(asked) : { rcode: RCODE.SERVFAIL }
      },
      silence,
    ],
    { deadlineMs, retryMs: 10 * deadlineMs },
  )
  const warnings: Error[] = []
  const warned = (warning: Error) => warnings.push(warning)
  process.on('warning', warned)
  t.after(() => process.off('warning', warned))
  const [first, second] = ['a.cl', 'b.cl'].map((name) => resolver.nameServers(name))
  assert.deepEqual(await first, found)
  // The response for the second name has arrived too, but is not read before the deadline.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, deadlineMs + 100)
  assert.deepEqual(await second, { kind: 'failed' })
  assert.deepEqual(warnings, [])
})
