import { test } from 'node:test'
import { type Observation, DnsObservations } from './observations.ts'
import type { NameServerAnswer } from '../../lib/dns/index.ts'
import assert from 'node:assert/strict'

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

test('a failed write is retried, unless there is a newer answer', async () => {
  let failing = true
  const { observations, stored, failures, observe } = recorder(() => failing)
  observe('uno.cl', found('a'))
  observe('dos.cl', found('a'))
  await observations.close()
  assert.deepEqual([stored, failures.length], [[], 1])
  observe('uno.cl', found('b'))
  failing = false
  await observations.close()
  assert.deepEqual(
    stored.map((batch) => batch.map(([name, { servers }]) => [name, servers])),
    [
      [
        ['uno', '["b"]'],
        ['dos', '["a"]'],
      ],
    ],
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
