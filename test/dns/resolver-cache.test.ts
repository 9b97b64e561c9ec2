import assert from 'node:assert/strict'
import { test } from 'node:test'
import { find, found, setUp } from './resolver-bench.ts'
import { ns, RCODE, soa } from './scripted.ts'

test('an answer is cached for its smallest TTL', async (t) => {
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

test('a negative answer is cached for the lesser of SOA TTL and minimum, a failure for two seconds', async (t) => {
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

test('an answer is cached at most as long as one of its kind may be', async (t) => {
  let now = 0
  const { resolver, servers } = await setUp(
    t,
    [
      ({ name }) =>
        name === 'libre.cl'
          ? { rcode: RCODE.NXDOMAIN, authorities: [soa('cl', 100, 100)] }
          : { answers: [ns(name, 'ns1.hosting.cl', 100)] },
    ],
    { now: () => now, maxTtl: 20, maxNegativeTtl: 5 },
  )
  for (const [name, seconds] of [
    ['registrado.cl', 20],
    ['libre.cl', 5],
  ] as const) {
    const start = now
    const queries = () => servers[0]?.queries.filter((query) => query.name === name).length
    await resolver.nameServers(name)
    now = start + seconds * 1_000 - 1
    await resolver.nameServers(name)
    assert.equal(queries(), 1)
    now++
    await resolver.nameServers(name)
    assert.equal(queries(), 2)
  }
})

test('equal look-ups in flight share one query, and those of another type have their own', async (t) => {
  const { resolver, servers } = await setUp(t, [find])
  const mx = resolver.records('registrado.cl', 'mx')
  const answers = await Promise.all(Array.from({ length: 50 }, () => resolver.nameServers('registrado.cl')))
  for (const answer of answers) assert.deepEqual(answer, found)
  assert.deepEqual(await mx, { kind: 'empty' })
  assert.deepEqual(servers[0]?.queries.map(({ question }) => question.type).toSorted(), ['MX', 'NS'])
  assert.deepEqual(resolver.stats(), { hits: 0, misses: 2, inFlight: 0 })
})

test('beyond the limit a look-up is rejected as overload, until others end', async (t) => {
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
