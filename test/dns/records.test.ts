import assert from 'node:assert/strict'
import { test } from 'node:test'
import { find, found, setUp } from './resolver-bench.ts'
import { FLAG, RCODE, reply, soa, type Handler } from './scripted.ts'

const mx = (name: string, preference: number, ttl = 300) => ({
  name,
  type: 'MX',
  class: 'IN',
  ttl,
  data: { preference, exchange: `mx${preference}.cl` },
})
const answerMx = (name: string, ttl = 300) => ({ answers: [mx(name, 20, ttl), mx(name, 10, ttl)] })
const MAIL = {
  kind: 'records',
  records: [
    { preference: 10, exchange: 'mx10.cl' },
    { preference: 20, exchange: 'mx20.cl' },
  ],
} as const

/** Answers MX and NS queries; everything else does not exist. */
const byType: Handler = (asked) =>
  asked.question.type === 'MX'
    ? answerMx(asked.name)
    : asked.question.type === 'NS'
      ? find(asked)
      : { rcode: RCODE.NXDOMAIN, authorities: [soa('cl', 300, 300)] }

test('answers are cached by name and type, each for its TTL', async (t) => {
  let now = 0
  const { resolver, servers } = await setUp(
    t,
    [(asked) => (asked.question.type === 'MX' ? answerMx(asked.name, 60) : byType(asked))],
    { now: () => now },
  )
  const queries = () => servers[0]?.queries.map(({ question }) => question.type)
  assert.deepEqual(await resolver.records('registrado.cl', 'mx'), MAIL)
  assert.deepEqual(await resolver.nameServers('registrado.cl'), found)
  assert.deepEqual(await resolver.records('registrado.cl', 'txt'), { kind: 'no-such-name' })
  now = 59_999
  assert.deepEqual(await resolver.records('registrado.cl', 'mx'), MAIL)
  assert.deepEqual(await resolver.nameServers('registrado.cl'), found)
  assert.deepEqual(await resolver.records('registrado.cl', 'txt'), { kind: 'no-such-name' })
  assert.deepEqual(queries(), ['MX', 'NS', 'TXT'])
  now = 60_000
  assert.deepEqual(await resolver.records('registrado.cl', 'mx'), MAIL)
  assert.deepEqual(queries(), ['MX', 'NS', 'TXT', 'MX'])
  const { inFlight, hits } = resolver.stats()
  assert.deepEqual({ inFlight, hits }, { inFlight: 0, hits: 3 })
})

test('equal look-ups in flight share a query, and all types share the limit', async (t) => {
  const { promise: gate, resolve: open } = Promise.withResolvers<undefined>()
  const held: Handler = async (asked) => {
    await gate
    return byType(asked)
  }
  const { resolver, servers } = await setUp(t, [held], { maxInFlight: 2 })
  const pending = [resolver.records('a.cl', 'mx'), resolver.records('a.cl', 'mx')]
  const nameServers = resolver.nameServers('a.cl')
  assert.deepEqual(await resolver.records('a.cl', 'a'), { kind: 'overloaded' })
  assert.deepEqual(await resolver.nameServers('b.cl'), { kind: 'overloaded' })
  open(undefined)
  assert.deepEqual(await Promise.all(pending), [MAIL, MAIL])
  assert.deepEqual(await nameServers, found)
  assert.equal(servers[0]?.queries.length, 2)
})

test('a truncated response is fetched over TCP', async (t) => {
  const { resolver, servers } = await setUp(t, [
    ({ transport, name }) => (transport === 'udp' ? { flags: FLAG.RA | FLAG.TC } : answerMx(name)),
  ])
  assert.deepEqual(await resolver.records('registrado.cl', 'mx'), MAIL)
  assert.deepEqual(
    servers[0]?.queries.map(({ transport }) => transport),
    ['udp', 'tcp'],
  )
})

test('a response to another type is ignored, and the right one is accepted', async (t) => {
  const { resolver } = await setUp(t, [
    (asked) => {
      const forged = { ...asked, question: { ...asked.question, type: 'TXT' } }
      return [reply(forged, answerMx(asked.name)), reply(asked, answerMx(asked.name))]
    },
  ])
  assert.deepEqual(await resolver.records('registrado.cl', 'mx'), MAIL)
})

test('close ends look-ups of every type', async (t) => {
  const { resolver } = await setUp(t, [() => 'silence'])
  const pending = resolver.records('mudo.cl', 'mx')
  resolver.close()
  assert.deepEqual(await pending, { kind: 'failed' })
  assert.deepEqual(await resolver.records('otro.cl', 'mx'), { kind: 'failed' })
})
