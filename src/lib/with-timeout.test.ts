import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withTimeout } from './concurrency.ts'

const never = new Promise<void>(() => {})

test('returns whether work settled in time, and rejects if it failed', async () => {
  assert.equal(await withTimeout(Promise.resolve(), 60_000), true)
  assert.equal(await withTimeout(never, 5), false)
  assert.equal(await withTimeout(never, -1), false)
  await assert.rejects(withTimeout(Promise.reject(new Error('gone')), 60_000), { message: 'gone' })
})

test('ignores a failure after the timeout', async () => {
  const failing = Promise.withResolvers<void>()
  assert.equal(await withTimeout(failing.promise, 1), false)
  failing.reject(new Error('too late to matter'))
  // An unhandled rejection would end the process by the next turn.
  await new Promise((resolve) => setImmediate(resolve))
})

test('leaves no timer behind', async () => {
  const before = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  await withTimeout(Promise.resolve(), 60_000)
  assert.equal(process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length, before)
})
