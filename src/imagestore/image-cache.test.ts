import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ImageCache } from './image-cache.ts'

const BYTES = 1_000
const image = { bytes: new Uint8Array(BYTES), mime: 'image/png' }
const keys = Array.from({ length: 500 }, (_, i) => String(i))

/** Room for 100 of the images. */
const cacheOf100 = () => new ImageCache(100 * (BYTES + 512))

function request(cache: ImageCache, key: string, client = 'client'): void {
  if (cache.get(key) === undefined) cache.set(key, image, client)
}

const cachedOf = (cache: ImageCache, some: readonly string[]) =>
  some.filter((key) => cache.get(key) !== undefined).length

test('the most recently used images are cached, within the limit', () => {
  const cache = cacheOf100()
  for (const key of keys) request(cache, key)
  assert.equal(cache.bytes, 100 * (BYTES + 512))
  assert.equal(cachedOf(cache, keys.slice(-100)), 100)
})

test('images that are too large are not cached, nor any without memory', () => {
  const cache = cacheOf100()
  cache.set('large', { ...image, bytes: new Uint8Array(1_000_000) }, 'client')
  assert.equal(cache.get('large'), undefined)
  const none = new ImageCache(0)
  none.set('a', image, 'client')
  assert.equal(none.get('a'), undefined)
})

test('a client that walks through all images leaves half of the memory to the others', () => {
  const cache = cacheOf100()
  const [own, others] = [keys.slice(0, 150), keys.slice(200, 250)]
  for (let round = 0; round < 20; round++) for (const key of own) request(cache, key, 'crawler')
  // Nobody else has used it so far.
  assert.equal(cachedOf(cache, own), 100)
  for (const key of others) request(cache, key, 'other')
  for (let round = 0; round < 20; round++) for (const key of own) request(cache, key, 'crawler')
  assert.equal(cachedOf(cache, others), 50)
})

test('a client that has filled the memory replaces its own least recently used images', () => {
  const cache = cacheOf100()
  const [own, others] = [keys.slice(0, 150), keys.slice(200, 240)]
  for (const key of own) request(cache, key, 'proxy')
  assert.equal(cachedOf(cache, own.slice(-100)), 100)
  for (const key of others) request(cache, key, 'other')
  for (const key of own) request(cache, key, 'proxy')
  assert.deepEqual([cachedOf(cache, others), cachedOf(cache, own.slice(-60))], [40, 60])
})

test('a client replaces its own images also if many of others are older, the requested ones last', () => {
  const cache = new ImageCache(1_000 * (BYTES + 512))
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
