import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lruCacheOfBytes } from './lru-cache.ts'

const getCache = (maxBytes: number) => lruCacheOfBytes<Buffer>(maxBytes, ({ byteLength }) => byteLength)

test('a value that does not fit replaces the old one by none', () => {
  const cache = getCache(10)
  cache.set('a', Buffer.alloc(6, 1))
  cache.set('b', Buffer.alloc(4, 1))
  cache.set('a', Buffer.alloc(11, 2))
  assert.equal(cache.get('a'), undefined)
  assert.deepEqual(cache.get('b'), Buffer.alloc(4, 1))
  assert.equal(cache.calculatedSize, 4)
})

test('without room nothing is kept', () => {
  const cache = getCache(0)
  cache.set('a', Buffer.alloc(6))
  assert.equal(cache.get('a'), undefined)
})
