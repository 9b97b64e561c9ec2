import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Recent } from './recent.ts'

test('keeps what is used, and lets go of the rest', () => {
  const recent = new Recent<number>(10)
  recent.set('used', 1)
  for (let i = 0; i < 1_000; i++) {
    recent.set(`other ${i}`, i)
    assert.equal(recent.get('used'), 1)
  }
  const kept = Array.from({ length: 1_000 }, (_, i) => recent.get(`other ${i}`) !== undefined)
  assert.ok(kept.lastIndexOf(true) === 999 && kept.filter(Boolean).length <= 10)
})

test('the newest value counts, wherever the one before was', () => {
  const recent = new Recent<number>(4)
  for (const key of ['a', 'b', 'c']) recent.set(key, 1)
  recent.set('a', 2)
  assert.equal(recent.get('a'), 2)
  for (const key of ['d', 'e', 'f', 'g']) recent.set(key, 1)
  assert.equal(recent.get('a'), undefined)
})
