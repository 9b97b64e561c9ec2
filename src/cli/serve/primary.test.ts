import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Restarts } from './restarts.ts'

test('all workers may die, at any time, and are replaced with growing pauses', () => {
  const restarts = new Restarts(2)
  const died = (now: number, served: number) => restarts.pauseAfter({ now, served, others: [] })
  assert.deepEqual(
    [20_000, 20_001, 20_002, 20_003].map((now) => died(now, 0)),
    [250, 500, 1_000, 2_000],
  )
  // However often it happens, as long as they serve for a while in between.
  for (let now = 100_000; now < 10_000_000; now += 11_000) assert.ok((died(now, now - 10_000) ?? 0) <= 10_000)
  assert.equal(died(20_000_000, 0), 250)
})

test('workers that die at their start again and again end the service, unless another serves', () => {
  const died = (restarts: Restarts, others: number[], count: number) =>
    Array.from({ length: count }, (_, i) =>
      restarts.pauseAfter({ now: 20_000 + i, served: i % 2 === 0 ? undefined : 19_000, others }),
    )
  const pauses = died(new Restarts(2), [19_999], 11)
  assert.deepEqual(pauses, [250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000, 10_000, undefined])
  const restarts = new Restarts(2)
  assert.ok(!died(restarts, [0], 1_000).includes(undefined))
  // From when that one is gone, too, they have as many attempts.
  assert.deepEqual(died(restarts, [], 11).slice(-2), [10_000, undefined])
})
