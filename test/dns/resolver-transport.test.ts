import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { test } from 'node:test'
import { find, found, setUp } from './resolver-bench.ts'
import { FLAG, ns, RCODE, reply, type Handler } from './scripted.ts'

test('a truncated response is retried over TCP', async (t) => {
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

test('a response whose compressed names decode to much more than a message is a failure', async (t) => {
  const labels = Array.from({ length: 120 }, () => [1, 0x78]).flat()
  const { resolver } = await setUp(t, [
    (asked) => {
      if (asked.transport === 'udp') return { flags: FLAG.TC | FLAG.RA }
      const question = reply(asked, { flags: FLAG.RA })
      const record = (target: number[]) => [0xc0, 12, 0, 2, 0, 1, 0, 0, 0, 60, 0, target.length, ...target]
      // The targets are names of 120 labels, of which all but the first have one label and a pointer to the rest.
      const rest = question.length + 12
      const pointer = [0xc0 | (rest >> 8), rest & 0xff]
      const names = asked.name === 'pocos.cl' ? 200 : 2_000
      const others = Array.from({ length: names }, (_, i) =>
        record([2, 0x61 + (i % 26), 0x61 + ((i / 26) % 26), ...pointer]),
      )
      const bytes = Buffer.concat([question, Buffer.from([...record([...labels, 0]), ...others.flat()])])
      bytes.writeUInt16BE(1 + names, 6)
      return [bytes]
    },
  ])
  assert.equal((await resolver.nameServers('pocos.cl')).kind, 'found')
  assert.deepEqual(await resolver.nameServers('muchos.cl'), { kind: 'failed' })
})

test('TCP that hangs ends at the deadline, unless another server answers before', async (t) => {
  const hang: Handler = ({ transport }) => (transport === 'udp' ? { flags: FLAG.TC } : 'silence')
  const alone = await setUp(t, [hang], { deadlineMs: 300 })
  assert.deepEqual(await alone.resolver.nameServers('grande.cl'), { kind: 'timeout' })
  const helped = await setUp(t, [hang, find], { retryMs: 100 })
  assert.deepEqual(await helped.resolver.nameServers('grande.cl'), found)
})

test('TCP that answers garbage is a failure', async (t) => {
  const { resolver } = await setUp(t, [
    ({ transport }) => (transport === 'udp' ? { flags: FLAG.TC } : [Buffer.from('no dns at all')]),
  ])
  assert.deepEqual(await resolver.nameServers('grande.cl'), { kind: 'failed' })
})

test('forged datagrams are ignored and the genuine response is accepted', async (t) => {
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

test('while queries are in flight, up to 256 share a source port; ids vary', async (t) => {
  const { promise: gate, resolve: open } = Promise.withResolvers<undefined>()
  const { resolver, servers } = await setUp(t, [
    async (asked) => {
      if (asked.name === 'lento.cl') await gate
      return find(asked)
    },
  ])
  const slow = resolver.nameServers('lento.cl')
  for (let i = 0; i < 600; i += 100)
    await Promise.all(Array.from({ length: 100 }, (_, j) => resolver.nameServers(`d${i + j}.cl`)))
  open(undefined)
  assert.deepEqual(await slow, found)
  const queries = servers[0]?.queries ?? []
  assert.equal(queries.length, 601)
  assert.ok(new Set(queries.map(({ id }) => id)).size > 570)
  const counts = Map.groupBy(queries, ({ port }) => port)
  assert.equal(Math.max(...[...counts.values()].map(({ length }) => length)), 256)
})

test('a query after all others were answered has another source port', async (t) => {
  const { resolver, servers } = await setUp(t, [find])
  for (let i = 0; i < 20; i++) await resolver.nameServers(`d${i}.cl`)
  const ports = servers[0]?.queries.map(({ port }) => port) ?? []
  assert.equal(ports.length, 20)
  // The system may give a port again.
  assert.ok(new Set(ports).size > 15)
})

test('an error without the question is an immediate failure', async (t) => {
  const { resolver } = await setUp(t, [
    (asked) => [Buffer.concat([reply(asked, { rcode: RCODE.FORMERR }).subarray(0, 4), Buffer.alloc(8)])],
  ])
  assert.deepEqual(await resolver.nameServers('registrado.cl'), { kind: 'failed' })
})
