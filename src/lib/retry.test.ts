import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CircuitBreaker } from './retry.ts'

const fail = () => Promise.reject(new Error('no'))

test('opens after consecutive failures, then lets one trial through at a time', async () => {
  let now = 0
  let failures = 0
  let calls = 0
  const breaker = new CircuitBreaker(2, 100, () => now)
  const run = (work: () => Promise<string>) =>
    breaker.run(
      () => {
        calls++
        return work()
      },
      () => failures++,
    )
  assert.equal(await run(async () => 'a'), 'a')
  assert.equal(await run(fail), undefined)
  assert.equal(await run(async () => 'b'), 'b')
  await run(fail)
  await run(fail)
  assert.deepEqual([calls, failures], [5, 3])

  now = 99
  assert.equal(await run(async () => 'c'), undefined)
  assert.equal(calls, 5)

  now = 100
  const trial = Promise.withResolvers<string>()
  const trying = run(() => trial.promise)
  assert.equal(await run(async () => 'd'), undefined)
  trial.reject(new Error('still no'))
  assert.equal(await trying, undefined)
  assert.equal(await run(async () => 'e'), undefined)
  assert.equal(calls, 6)

  now = 200
  assert.equal(await run(async () => 'f'), 'f')
  assert.deepEqual(await Promise.all([run(async () => 'g'), run(async () => 'h')]), ['g', 'h'])
})
