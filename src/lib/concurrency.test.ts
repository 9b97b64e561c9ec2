import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asTheyCome } from './concurrency.ts'

test('results come as they are ready, so many items at a time', async () => {
  const open = new Map<number, (value: number) => void>()
  const all = asTheyCome([1, 2, 3, 4, 5], 2, (item) => {
    const { promise, resolve } = Promise.withResolvers<number>()
    open.set(item, resolve)
    return promise
  })
  const come: number[] = []
  for (const [next, wanted] of [
    [2, [1, 2]],
    [3, [1, 3]],
    [1, [1, 4]],
    [5, [4, 5]],
    [4, [4]],
  ] as const) {
    const batch = all.next()
    // The generator begins when it is first asked.
    await Promise.resolve()
    assert.deepEqual([...open.keys()], wanted)
    open.get(next)?.(next * 10)
    open.delete(next)
    come.push(...((await batch).value ?? []))
  }
  assert.deepEqual(come, [20, 30, 10, 50, 40])
  assert.equal((await all.next()).done, true)
})

test('who stops taking stops the work; a fault ends it', async () => {
  let begun = 0
  const endless = () => Array.from({ length: 1_000 }, (_, i) => i)
  for await (const batch of asTheyCome(endless(), 10, async () => ++begun)) {
    assert.ok(batch.length <= 10)
    break
  }
  assert.equal(begun, 10)
  const failing = asTheyCome(endless(), 10, async (item) => {
    if (item === 5) throw new Error('no')
  })
  await assert.rejects(async () => {
    for await (const _ of failing);
  }, /no/)
})
