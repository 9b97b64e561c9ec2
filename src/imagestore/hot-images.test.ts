import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { HotImages } from './hot-images.ts'

const BYTES = 1_000
const image = { bytes: new Uint8Array(BYTES), mime: 'image/png' }
const keys = Array.from({ length: 500 }, (_, i) => createHash('sha256').update(String(i)).digest('hex'))

/** Room for about 100 of the images. */
const small = () => new HotImages(100 * (BYTES + 512))

/** What a reader does. @returns whether it was in memory */
function ask(hot: HotImages, key: string): boolean {
  if (hot.get(key) !== undefined) return true
  if (hot.wants(key, BYTES)) hot.set(key, image)
  return false
}

test('whatever there is room for is kept, and never more', () => {
  const hot = small()
  for (const key of keys) ask(hot, key)
  assert.ok(hot.bytes <= 100 * (BYTES + 512))
  assert.equal(keys.slice(0, 100).filter((key) => hot.get(key) !== undefined).length, 100)
})

test('who walks through more than there is room for, over and over, finds as much of it as there is room for', () => {
  const hot = small()
  let hits = 0
  const rounds = 40
  for (let round = 0; round < rounds; round++) hits += keys.filter((key) => ask(hot, key)).length
  assert.ok(hits > rounds * 80, `${hits} hits`)
})

test('a walk through everything leaves what is asked for often where it is', () => {
  const hot = small()
  const often = keys.slice(0, 90)
  for (let i = 0; i < 5; i++) for (const key of often) ask(hot, key)
  for (const key of keys.slice(100)) ask(hot, key)
  assert.equal(often.filter((key) => hot.get(key) !== undefined).length, 90)
})

test('what becomes asked for often comes in, whatever was before', () => {
  const hot = small()
  for (let i = 0; i < 200; i++) for (const key of keys.slice(0, 100)) ask(hot, key)
  const now = keys.slice(200, 290)
  for (let i = 0; i < 600; i++) for (const key of now) ask(hot, key)
  assert.ok(now.filter((key) => hot.get(key) !== undefined).length > 80)
})

test('what is larger than all the room is not wanted, nor anything where there is none', () => {
  assert.equal(small().wants('a', 1_000_000), false)
  assert.equal(new HotImages(0).wants('a', 1), false)
})

test('a client that asks for its images again and again leaves half of the memory to the others', () => {
  const hot = small()
  const askAs = (client: string, key: string) => {
    if (hot.get(key) === undefined && hot.wants(key, BYTES, client)) hot.set(key, image, client)
  }
  const found = (some: readonly string[]) => some.filter((key) => hot.get(key) !== undefined).length
  const [own, others] = [keys.slice(0, 150), keys.slice(200, 250)]
  for (let round = 0; round < 20; round++) for (const key of own) askAs('greedy', key)
  // Nobody else wanted it so far.
  assert.ok(found(own) > 90)
  for (const key of others) askAs('other', key)
  assert.ok(found(others) >= 49, `${found(others)}`)
  for (let round = 0; round < 20; round++) for (const key of own) askAs('greedy', key)
  assert.ok(found(others) >= 49, `${found(others)}`)
  assert.ok(found(own) >= 45, `${found(own)}`)
})
