import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NameServerAnswer } from '../routes/dns.ts'
import type { Sighting } from './sighting.ts'
import { Sightings } from './sightings.ts'

const found = (...servers: string[]): NameServerAnswer => ({ kind: 'found', servers })

function recorder(fail: () => boolean = () => false) {
  let now = 1_000
  const stored: [string, Sighting][][] = []
  const failures: unknown[] = []
  const sightings = new Sightings({
    clock: { now: () => now },
    failed: (error) => failures.push(error),
    store: async (batch) => {
      if (fail()) throw new Error('on purpose')
      stored.push([...batch])
    },
  })
  const see = (domain: string, answer: NameServerAnswer) => {
    sightings.see(domain, answer)
    now += 10
  }
  return { sightings, stored, failures, see }
}

test('the same answer again prolongs, another is written after it', async () => {
  const { sightings, stored, see } = recorder()
  see('uno.cl', found('a', 'b'))
  see('uno.cl', found('a', 'b'))
  see('uno.cl', { kind: 'no-such-name' })
  see('xn--and-6ma2c.cl', { kind: 'empty' })
  await sightings.close()
  assert.deepEqual(stored, [
    [
      ['uno', { first: 1_000, last: 1_010, servers: '["a","b"]' }],
      ['ñandú', { first: 1_030, last: 1_030, servers: '[]' }],
    ],
    [['uno', { first: 1_020, last: 1_020, servers: null }]],
  ])
})

test('failures, and names below those that are registered, say nothing', async () => {
  const { sightings, stored, see } = recorder()
  for (const kind of ['refused', 'failed', 'timeout', 'overloaded'] as const) see('uno.cl', { kind })
  see('www.uno.cl', found('a'))
  await sightings.close()
  assert.deepEqual(stored, [])
})

test('what could not be written is written later, in the same order', async () => {
  let failing = true
  const { sightings, stored, failures, see } = recorder(() => failing)
  see('uno.cl', found('a'))
  await sightings.close()
  assert.deepEqual([stored, failures.length], [[], 1])
  see('uno.cl', found('b'))
  failing = false
  await sightings.close()
  assert.deepEqual(
    stored.map((batch) => batch.map(([name, { servers }]) => [name, servers])),
    [[['uno', '["a"]']], [['uno', '["b"]']]],
  )
})

test('memory is bounded: what is too much is counted and lost', async () => {
  const { sightings, stored, see } = recorder()
  for (let i = 0; i < 50_010; i++) see(`nombre${i}.cl`, found('a'))
  // What is known already costs nothing more.
  see('nombre0.cl', found('a'))
  assert.equal(sightings.lost, 10)
  await sightings.close()
  assert.equal(stored.flat().length, 50_000)
  assert.ok(stored.every((batch) => batch.length <= 2_000))
})

test('it is written by itself, soon', async () => {
  const written = Promise.withResolvers<number>()
  const sightings = new Sightings({
    clock: { now: () => 1 },
    failed: () => {},
    store: async (batch) => written.resolve(batch.size),
  })
  sightings.see('uno.cl', found('a'))
  // The timer alone does not keep a process.
  const keep = setTimeout(() => written.resolve(-1), 30_000)
  assert.equal(await written.promise, 1)
  clearTimeout(keep)
})
