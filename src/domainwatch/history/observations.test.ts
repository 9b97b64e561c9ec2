import { test } from 'node:test'
import { mergeObservation, type Observation, DnsObservations } from './observations.ts'
import type { NameServerAnswer } from '../../lib/dns/index.ts'
import assert from 'node:assert/strict'
import fc from 'fast-check'

/** Returns the entries after storing observations in this order. */
function written(observations: readonly Observation[]): Observation[] {
  const kept = new Map<number, Observation>()
  for (const seen of observations) {
    const all = [...kept.values()].toSorted((a, b) => a.first - b.first)
    const merge = mergeObservation(
      seen,
      all.findLast(({ first }) => first <= seen.first),
      all.find(({ first }) => first > seen.first),
    )
    if (merge === undefined) continue
    if (merge.replaced !== undefined) kept.delete(merge.replaced)
    assert.equal(merge.isNew, !kept.has(merge.entry.first) && merge.replaced === undefined)
    kept.set(merge.entry.first, merge.entry)
  }
  return [...kept.values()].toSorted((a, b) => a.first - b.first)
}

const answers = fc.array(fc.constantFrom('["a"]', '["b"]', '[]', null), { minLength: 1, maxLength: 30 })
/** Observations ten milliseconds apart. */
const toObservations = (all: readonly (string | null)[]) =>
  all.map((servers, i): Observation => ({ first: i * 10, last: i * 10, servers }))

test('stored in order of time, each answer that differs from the one before starts an entry', () => {
  fc.assert(
    fc.property(answers, (all) => {
      const runs: Observation[] = []
      for (const seen of toObservations(all)) {
        const run = runs.at(-1)
        if (run?.servers === seen.servers) runs[runs.length - 1] = { ...run, last: seen.last }
        else runs.push(seen)
      }
      assert.deepEqual(written(toObservations(all)), runs)
    }),
  )
})

test('stored in any order, entries cover every observation and nothing else', () => {
  const shuffled = answers.chain((all) =>
    fc.shuffledSubarray(toObservations(all), { minLength: all.length, maxLength: all.length }),
  )
  fc.assert(
    fc.property(shuffled, (all) => {
      const entries = written(all)
      for (const { first, servers } of all) {
        const covers = entries.some(
          (one) => one.servers === servers && one.first <= first && first <= one.last,
        )
        assert.ok(covers, `${servers} at ${first}`)
      }
      for (const entry of entries) {
        for (const end of [entry.first, entry.last])
          assert.ok(all.some(({ first, servers }) => first === end && servers === entry.servers))
      }
    }),
  )
})

test('two different answers at the same time are both kept', () => {
  const at = (servers: string | null): Observation => ({ first: 5, last: 5, servers })
  assert.deepEqual(written([at('["a"]'), at('["b"]')]), [
    { first: 5, last: 5, servers: '["a"]' },
    { first: 6, last: 6, servers: '["b"]' },
  ])
})

const found = (...servers: string[]): NameServerAnswer => ({ kind: 'found', servers })

function recorder(fail: () => boolean = () => false) {
  let now = 1_000
  const stored: [string, Observation][][] = []
  const failures: unknown[] = []
  const observations = new DnsObservations({
    clock: { now: () => now },
    failed: (error) => failures.push(error),
    store: async (batch) => {
      if (fail()) throw new Error('on purpose')
      stored.push([...batch])
    },
  })
  const observe = (domain: string, answer: NameServerAnswer) => {
    observations.add(domain, answer)
    now += 10
  }
  return { observations, stored, failures, observe }
}

test('a repeated answer extends its observation, another is stored in a later batch', async () => {
  const { observations, stored, observe } = recorder()
  observe('uno.cl', found('a', 'b'))
  observe('uno.cl', found('a', 'b'))
  observe('uno.cl', { kind: 'no-such-name' })
  observe('xn--and-6ma2c.cl', { kind: 'empty' })
  await observations.close()
  assert.deepEqual(stored, [
    [
      ['uno', { first: 1_000, last: 1_010, servers: '["a","b"]' }],
      ['ñandú', { first: 1_030, last: 1_030, servers: '[]' }],
    ],
    [['uno', { first: 1_020, last: 1_020, servers: null }]],
  ])
})

test('failures and names below registered ones are ignored', async () => {
  const { observations, stored, observe } = recorder()
  for (const kind of ['refused', 'failed', 'timeout', 'overloaded'] as const) observe('uno.cl', { kind })
  observe('www.uno.cl', found('a'))
  await observations.close()
  assert.deepEqual(stored, [])
})

test('a failed write is retried in the same order', async () => {
  let failing = true
  const { observations, stored, failures, observe } = recorder(() => failing)
  observe('uno.cl', found('a'))
  await observations.close()
  assert.deepEqual([stored, failures.length], [[], 1])
  observe('uno.cl', found('b'))
  failing = false
  await observations.close()
  assert.deepEqual(
    stored.map((batch) => batch.map(([name, { servers }]) => [name, servers])),
    [[['uno', '["a"]']], [['uno', '["b"]']]],
  )
})

test('the buffer is limited; what exceeds it is dropped and counted', async () => {
  const { observations, stored, observe } = recorder()
  for (let i = 0; i < 50_010; i++) observe(`nombre${i}.cl`, found('a'))
  // A repeated answer needs no further memory.
  observe('nombre0.cl', found('a'))
  assert.equal(observations.lost, 10)
  await observations.close()
  assert.equal(stored.flat().length, 50_000)
  assert.ok(stored.every((batch) => batch.length <= 2_000))
})

test('observations are flushed by a timer', async () => {
  const written = Promise.withResolvers<number>()
  const observations = new DnsObservations({
    clock: { now: () => 1 },
    failed: () => {},
    store: async (batch) => written.resolve(batch.size),
  })
  observations.add('uno.cl', found('a'))
  // The flush timer does not keep the process alive.
  const keepAlive = setTimeout(() => written.resolve(-1), 30_000)
  assert.equal(await written.promise, 1)
  clearTimeout(keepAlive)
})
