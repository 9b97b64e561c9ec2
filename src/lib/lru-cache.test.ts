import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lruCache } from './lru-cache.ts'

test('evicts the least recently used entry', () => {
  const cache = lruCache<number>(1_000)
  for (let i = 0; i < 1_000; i++) cache.set(String(i), i)
  assert.equal(cache.get('0'), 0)
  cache.set('more', 1)
  assert.deepEqual(
    [cache.size, cache.has('0'), cache.has('1'), cache.has('more')],
    [1_000, true, false, true],
  )
  cache.clear()
  assert.equal(cache.size, 0)
})

test('a large limit allocates no memory in advance', () => {
  globalThis.gc?.()
  const before = process.memoryUsage()
  const caches = Array.from({ length: 20 }, () => lruCache<number>(100_000))
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  assert.ok(heapUsed - before.heapUsed + arrayBuffers - before.arrayBuffers < 10 * 1024 * 1024)
  for (const cache of caches) assert.equal(cache.size, 0)
})
