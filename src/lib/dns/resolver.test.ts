import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AnswerCache } from './resolver.ts'
import type { NameServerAnswer } from './classify.ts'

const found = (servers: readonly string[]): NameServerAnswer => ({ kind: 'found', servers })
const LIMITS = { maxTtl: 1_000, maxNegativeTtl: 100, failureTtl: 2 }

/** Returns how many seconds an answer with this TTL is cached, 0 to 2,000. */
function lifetime(answer: NameServerAnswer, ttl: number | undefined): number {
  let now = 0
  const cache = new AnswerCache(new Map(), LIMITS, () => now)
  cache.set('a.cl', answer, ttl, '')
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
