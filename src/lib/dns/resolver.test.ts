import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AnswerCache } from './resolver.ts'
import type { NameServerAnswer } from './classify.ts'

const found = (servers: readonly string[]): NameServerAnswer => ({ kind: 'found', servers })
const LIMITS = { maxBytes: 100_000, maxTtl: 1_000, maxNegativeTtl: 100, failureTtl: 2 }

/** Returns how many seconds an answer with this TTL is cached, 0 to 2,000. */
function lifetime(answer: NameServerAnswer, ttl: number | undefined): number {
  let now = 0
  const cache = new AnswerCache(LIMITS, () => now)
  cache.set('a.cl', answer, ttl)
  while (cache.get('a.cl') !== undefined && now < 2_000_000) now += 1_000
  return now / 1_000
}

test('TTLs are respected and capped by kind', () => {
  assert.equal(lifetime(found(['ns1.cl']), 30), 30)
  assert.equal(lifetime(found(['ns1.cl']), 0x7fffffff), 1_000)
  assert.equal(lifetime(found(['ns1.cl']), 0), 0)
  assert.equal(lifetime({ kind: 'empty' }, 30), 30)
  assert.equal(lifetime({ kind: 'no-such-name' }, 86_400), 100)
  assert.equal(lifetime({ kind: 'no-such-name' }, 0), 0)
  for (const kind of ['refused', 'failed', 'timeout'] as const) assert.equal(lifetime({ kind }, undefined), 2)
  assert.equal(lifetime({ kind: 'overloaded' }, undefined), 0)
})

test('evicts the least recently used entries, counting the size of answers', () => {
  const cache = new AnswerCache(LIMITS, () => 0)
  const large = found(Array.from({ length: 1_000 }, (_, i) => `ns${i}.cl`))
  cache.set('a.cl', large, 60)
  cache.set('b.cl', large, 60)
  cache.get('a.cl')
  cache.set('c.cl', large, 60)
  assert.equal(cache.get('b.cl'), undefined)
  assert.ok(cache.get('a.cl'))
  for (let i = 0; i < 10_000; i++) cache.set(`d${i}.cl`, { kind: 'empty' }, 60)
  assert.ok(cache.size < 500, `${cache.size} entries`)
})
