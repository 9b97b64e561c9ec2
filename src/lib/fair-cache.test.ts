import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FairCache } from './fair-cache.ts'

/** The size of a value. */
const SIZE = 1_512
const value = { size: SIZE }
const keys = Array.from({ length: 500 }, (_, i) => String(i))

const cacheOf = (count: number) => new FairCache<typeof value>(count * SIZE, ({ size }) => size)

function request(cache: FairCache<typeof value>, key: string, client = 'client'): void {
  if (cache.get(key) === undefined) cache.set(key, value, client)
}

const cachedOf = (cache: FairCache<typeof value>, some: readonly string[]) =>
  some.filter((key) => cache.get(key) !== undefined).length

test('the most recently used values are kept, within the limit', () => {
  const cache = cacheOf(100)
  for (const key of keys) request(cache, key)
  assert.equal(cache.size, 100 * SIZE)
  assert.equal(cachedOf(cache, keys.slice(-100)), 100)
})

test('values that are too large are not kept, nor any without room', () => {
  const cache = cacheOf(100)
  cache.set('large', { size: 1_000_000 }, 'client')
  assert.equal(cache.get('large'), undefined)
  const none = cacheOf(0)
  none.set('a', value, 'client')
  assert.equal(none.get('a'), undefined)
})

test('a client that walks through all values leaves half of the cache to the others', () => {
  const cache = cacheOf(100)
  const [own, others] = [keys.slice(0, 150), keys.slice(200, 250)]
  for (let round = 0; round < 20; round++) for (const key of own) request(cache, key, 'crawler')
  // Nobody else has used it so far.
  assert.equal(cachedOf(cache, own), 100)
  for (const key of others) request(cache, key, 'other')
  for (let round = 0; round < 20; round++) for (const key of own) request(cache, key, 'crawler')
  assert.equal(cachedOf(cache, others), 50)
})

test('a client that has filled the cache replaces its own least recently used values', () => {
  const cache = cacheOf(100)
  const [own, others] = [keys.slice(0, 150), keys.slice(200, 240)]
  for (const key of own) request(cache, key, 'proxy')
  assert.equal(cachedOf(cache, own.slice(-100)), 100)
  for (const key of others) request(cache, key, 'other')
  for (const key of own) request(cache, key, 'proxy')
  assert.deepEqual([cachedOf(cache, others), cachedOf(cache, own.slice(-60))], [40, 60])
})

test('a client replaces its own values also if many of others are older, the requested ones last', () => {
  const cache = cacheOf(1_000)
  const many = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => String(from + i))
  for (const key of many(0, 400)) request(cache, key, 'other')
  for (const key of many(400, 1_000)) request(cache, key, 'proxy')
  for (const key of many(400, 450)) request(cache, key, 'proxy')
  for (const key of many(1_000, 1_100)) request(cache, key, 'proxy')
  const left = [many(0, 400), many(400, 450), many(450, 550), many(1_000, 1_100)]
  assert.deepEqual(
    left.map((some) => cachedOf(cache, some)),
    [400, 50, 0, 100],
  )
})

test('values are replaced and cleared with what they counted for', () => {
  const cache = cacheOf(100)
  for (const key of keys.slice(0, 100)) request(cache, key, 'a')
  cache.set('99', { size: SIZE }, 'b')
  assert.equal(cache.size, 100 * SIZE)
  assert.equal(cachedOf(cache, keys.slice(0, 100)), 100)
  cache.clear()
  assert.equal(cache.size, 0)
  for (const key of keys.slice(0, 100)) request(cache, key, 'a')
  assert.equal(cachedOf(cache, keys.slice(0, 100)), 100)
})
