/** The servers of the zone itself are asked, and the delegation is read. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { ResolverOptions } from '../../src/lib/dns/index.ts'
import { found, setUp } from './resolver-bench.ts'
import { FLAG, ns, RCODE, soa, startScriptedDns, type Answer, type Handler } from './scripted.ts'
import { eventually } from '../support/eventually.ts'

const PARENT = { role: 'parent' } as const

const setUpParent = (
  t: TestContext,
  handlers: readonly Handler[],
  options: Partial<ResolverOptions> = PARENT,
) => setUp(t, handlers, options)

const NAME = 'registrado.cl'
const AA = FLAG.AA
const delegation: Answer = { flags: 0, authorities: [ns(NAME, 'ns2.hosting.cl'), ns(NAME, 'NS1.Hosting.cl')] }
const delegate: Handler = ({ name }) => ({ flags: 0, authorities: [ns(name, 'ns1.hosting.cl')] })
const upward: Answer = { flags: 0, authorities: [ns('cl', 'a.nic.cl')] }

const CASES: readonly [string, Answer, unknown][] = [
  ['a delegation', delegation, { kind: 'found', servers: ['ns1.hosting.cl', 'ns2.hosting.cl'] }],
  ["the child's own records, its owner's", { flags: AA, answers: [ns(NAME, 'ns1.hosting.cl')] }, found],
  ["the child's own records, a copy", { answers: [ns(NAME, 'ns1.hosting.cl')] }, { kind: 'failed' }],
  [
    'no such name',
    { flags: AA, rcode: RCODE.NXDOMAIN, authorities: [soa('cl', 60, 60)] },
    { kind: 'no-such-name' },
  ],
  ['no such name, a copy', { rcode: RCODE.NXDOMAIN, authorities: [soa('cl', 60, 60)] }, { kind: 'failed' }],
  ['no name servers', { flags: AA, authorities: [soa('cl', 60, 60)] }, { kind: 'empty' }],
  ['no name servers, a copy', { authorities: [soa('cl', 60, 60)] }, { kind: 'failed' }],
  ['nothing at all', { flags: AA }, { kind: 'failed' }],
  ['a referral upward', upward, { kind: 'failed' }],
  [
    'a delegation of a name above',
    { flags: 0, authorities: [ns('gob.cl', 'ns1.gob.cl')] },
    { kind: 'failed' },
  ],
  ['a refusal', { rcode: RCODE.REFUSED }, { kind: 'refused' }],
  ['a failure', { rcode: RCODE.SERVFAIL }, { kind: 'failed' }],
]

for (const [what, answer, expected] of CASES) {
  test(`${what}: ${JSON.stringify(expected)}`, async (t) => {
    const { resolver, servers } = await setUpParent(t, [() => answer])
    assert.deepEqual(await resolver.nameServers(NAME), expected)
    assert.equal(servers[0]?.queries[0]?.recursive, false)
  })
}

test('after a lame answer, a copy or a refusal the next server is queried immediately', async (t) => {
  for (const answer of [
    upward,
    { answers: [ns(NAME, 'x.cl')] },
    { rcode: RCODE.REFUSED },
  ] satisfies Answer[]) {
    // They take turns: whichever is first.
    const { resolver } = await setUpParent(t, [() => answer, delegate])
    for (let i = 0; i < 4; i++)
      assert.deepEqual(await resolver.nameServers(i === 0 ? NAME : `n${i}.cl`), found)
  }
})

test('servers are rotated; a silent one is skipped', async (t) => {
  const { resolver, servers } = await setUpParent(t, [delegate, () => 'silence', delegate], {
    ...PARENT,
    retryMs: 1_000,
  })
  for (let i = 0; i < 60; i++) assert.deepEqual(await resolver.nameServers(`n${i}.cl`), found)
  const [one = 0, silent = 0, three = 0] = servers.map(({ queries }) => queries.length)
  assert.ok(silent <= 2, `the silent one was asked ${silent} times`)
  assert.ok(Math.abs(one - three) <= 22, `${one} and ${three}`)
  assert.ok(one >= 15 && three >= 15)
})

/** A resolver that knows the servers of cl. */
function directory(addresses: () => readonly string[], ttl = 300): Handler {
  return ({ name, question }) => {
    if (name === 'cl' && question.type === 'NS')
      return { answers: [ns('cl', 'a.nic.cl'), ns('cl', 'b.nic.cl')] }
    if (name !== 'a.nic.cl' || question.type !== 'A') return { authorities: [soa('cl', 60, 60)] }
    return { answers: addresses().map((data) => ({ name, type: 'A', class: 'IN', ttl, data })) }
  }
}

async function foundBy(
  t: TestContext,
  handler: Handler,
  parent: Handler,
  now: () => number,
  options: Partial<ResolverOptions> = {},
) {
  const zoneServer = await startScriptedDns(parent)
  t.after(() => zoneServer.stop())
  const { resolver: through, servers } = await setUp(t, [handler], { now, ...options })
  const found = { zone: 'cl', through, port: zoneServer.port }
  const { resolver } = await setUpParent(t, [], { ...PARENT, servers: found, now, failureTtl: 0, ...options })
  return { resolver, directory: servers[0], zoneServer }
}

test('the servers of the zone are found, cached for their TTL, and refreshed', async (t) => {
  let time = 1_000_000
  let addresses = ['127.0.0.1']
  const {
    resolver,
    directory: asked,
    zoneServer,
  } = await foundBy(
    t,
    directory(() => addresses),
    delegate,
    () => time,
  )
  const both = await Promise.all([resolver.nameServers('uno.cl'), resolver.nameServers('dos.cl')])
  assert.deepEqual(both, [found, found])
  const once = asked?.queries.length ?? 0
  assert.deepEqual(await resolver.nameServers('tres.cl'), found)
  assert.equal(asked?.queries.length, once, 'the directory was asked once for all of them')
  assert.equal(zoneServer.queries.length, 3)

  // No server responds: the next look-up starts a search, and later ones use its result.
  addresses = ['127.0.0.9']
  time += 300_001
  await resolver.nameServers('cuatro.cl')
  let next = 0
  await eventually(
    async () => (await resolver.nameServers(`n${next++}.cl`)).kind !== 'found',
    'the old servers are asked no more',
  )
})

test('without servers of the zone a look-up fails, and they are searched for again shortly after', async (t) => {
  let time = 1_000_000
  let addresses: string[] = []
  const { resolver } = await foundBy(
    t,
    directory(() => addresses),
    delegate,
    () => time,
  )
  assert.deepEqual(await resolver.nameServers(NAME), { kind: 'failed' })
  addresses = ['127.0.0.1']
  assert.deepEqual(await resolver.nameServers(NAME), { kind: 'failed' })
  // The servers had no address for 60 s.
  time += 60_001
  // The first one waits for the search.
  assert.deepEqual(await resolver.nameServers(NAME), found)
})

test('an unanswered search for servers ends at the deadline', async (t) => {
  const { resolver } = await foundBy(
    t,
    () => 'silence',
    delegate,
    () => performance.now(),
    { deadlineMs: 1_000 },
  )
  const start = performance.now()
  const { kind } = await resolver.nameServers(NAME)
  assert.ok(kind === 'timeout' || kind === 'failed', kind)
  assert.ok(performance.now() - start < 30_000)
})
