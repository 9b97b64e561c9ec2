import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { forEachConcurrent, streamConcurrent, withTimeout } from './concurrency.ts'

async function* count(to: number) {
  for (let number = 0; number < to; number++) yield number
}

suite('forEachConcurrent', { timeout: 60_000 }, () => {
  test('handles each item once, within the concurrency limit', async () => {
    const done: number[] = []
    let running = 0
    let most = 0
    await forEachConcurrent(count(50), 4, async (number) => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setImmediate(resolve))
      done.push(number)
      running--
    })
    assert.deepEqual(
      done.toSorted((a, b) => a - b),
      Array.from({ length: 50 }, (_, index) => index),
    )
    assert.equal(most, 4)
  })

  test('rejects with the first error and starts nothing after it', async () => {
    const begun: number[] = []
    const fault = new Error('on purpose')
    const work = forEachConcurrent(count(1_000), 2, async (number) => {
      begun.push(number)
      await new Promise((resolve) => setImmediate(resolve))
      if (number === 3) throw fault
    })
    await assert.rejects(work, fault)
    assert.ok(begun.length < 10)
  })
})

test('yields results as they arrive, with limited concurrency', async () => {
  const open = new Map<number, (value: number) => void>()
  const all = streamConcurrent([1, 2, 3, 4, 5], 2, (item) => {
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
    // The generator starts with the first call of next().
    await Promise.resolve()
    assert.deepEqual([...open.keys()], wanted)
    open.get(next)?.(next * 10)
    open.delete(next)
    come.push(...((await batch).value ?? []))
  }
  assert.deepEqual(come, [20, 30, 10, 50, 40])
  assert.equal((await all.next()).done, true)
})

const never = new Promise<void>(() => {})

test('withTimeout returns whether work settled in time, and rejects if it failed', async () => {
  assert.equal(await withTimeout(Promise.resolve(), 60_000), true)
  assert.equal(await withTimeout(never, 5), false)
  assert.equal(await withTimeout(never, -1), false)
  await assert.rejects(withTimeout(Promise.reject(new Error('gone')), 60_000), { message: 'gone' })
})

test('withTimeout ignores a failure after the timeout', async () => {
  const failing = Promise.withResolvers<void>()
  assert.equal(await withTimeout(failing.promise, 1), false)
  failing.reject(new Error('too late to matter'))
  // An unhandled rejection would end the process by the next turn.
  await new Promise((resolve) => setImmediate(resolve))
})
