import assert from 'node:assert/strict'
import { test } from 'node:test'
import { throttledCount } from './throttled-count.ts'

/** Counts its calls, each of which advances a fake clock. */
function slowCount() {
  let now = 0
  let counted = 0
  const clock = { tookMs: 0, advance: (ms: number) => void (now += ms) }
  const ask = throttledCount(
    async () => {
      now += clock.tookMs
      return ++counted
    },
    () => now,
  )
  return { clock, ask }
}

test('a fast count runs at each call', async () => {
  const { clock, ask } = slowCount()
  clock.tookMs = 500
  assert.deepEqual([await ask(), await ask()], [1, 2])
})

test('a slow count is cached for a hundred times its duration', async () => {
  const { clock, ask } = slowCount()
  clock.tookMs = 2_000
  assert.equal(await ask(), 1)
  clock.advance(199_999)
  assert.equal(await ask(), 1)
  clock.advance(1)
  clock.tookMs = 10
  assert.deepEqual([await ask(), await ask()], [2, 3])
})

test('concurrent calls share one count and its failure; the next call retries', async () => {
  let calls = 0
  const ask = throttledCount(async () => {
    if (++calls === 1) throw new Error('gone')
    return calls
  })
  assert.deepEqual(
    (await Promise.allSettled([ask(), ask()])).map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.deepEqual([await Promise.all([ask(), ask()]), calls], [[2, 2], 2])
})
