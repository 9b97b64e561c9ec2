import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AnswerCache, getLifetime } from './answer-cache.ts'

const LIMITS = { maxTtl: 1_000, maxNegativeTtl: 100, failureTtl: 2 }

test('TTLs are respected and capped by kind', () => {
  const found = { kind: 'found', servers: ['ns1.cl'] } as const
  assert.equal(getLifetime(found, 30, LIMITS), 30)
  assert.equal(getLifetime(found, 0x7fffffff, LIMITS), 1_000)
  assert.equal(getLifetime(found, 0, LIMITS), 0)
  assert.equal(getLifetime({ kind: 'empty' }, 30, LIMITS), 30)
  assert.equal(getLifetime({ kind: 'no-such-name' }, 86_400, LIMITS), 100)
  assert.equal(getLifetime({ kind: 'no-such-name' }, 0, LIMITS), 0)
  for (const kind of ['refused', 'failed', 'timeout'] as const)
    assert.equal(getLifetime({ kind }, undefined, LIMITS), 2)
  assert.equal(getLifetime({ kind: 'overloaded' }, undefined, LIMITS), 0)
})

test('a client with half of the cache replaces its own answers, and none of another', () => {
  const MIB = 1024 * 1024
  const cache = new AnswerCache()
  const answers = (client: string, count: number) => Array.from({ length: count }, (_, i) => `${client}${i}`)
  const [own, crawled] = [answers('own', 10), answers('crawl', 100)]
  const set = (key: string, client: string) =>
    cache.set(key, { answer: { kind: 'empty' }, bytes: MIB, expires: 1 }, client)
  for (const key of own) set(key, 'own')
  for (const key of crawled) set(key, 'crawler')
  const kept = (keys: readonly string[]) => keys.filter((key) => cache.get(key) !== undefined)
  assert.deepEqual(kept(own), own)
  assert.deepEqual(kept(crawled), crawled.slice(-16))
})
