import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RestartPolicy } from './serve.ts'

test('workers that exit are replaced after growing delays', () => {
  const restarts = new RestartPolicy(2)
  const died = (now: number, served: number) => restarts.delayAfter({ now, served, others: [] })
  assert.deepEqual(
    [20_000, 20_001, 20_002, 20_003].map((now) => died(now, 0)),
    [250, 500, 1_000, 2_000],
  )
  // However often it happens, if they serve for a while in between.
  for (let now = 100_000; now < 10_000_000; now += 11_000) assert.ok((died(now, now - 10_000) ?? 0) <= 10_000)
  assert.equal(died(20_000_000, 0), 250)
})

test('repeated exits at the start end the service, unless another worker serves', () => {
  const died = (restarts: RestartPolicy, others: number[], count: number) =>
    Array.from({ length: count }, (_, i) =>
      restarts.delayAfter({ now: 20_000 + i, served: i % 2 === 0 ? undefined : 19_000, others }),
    )
  const delays = died(new RestartPolicy(2), [19_999], 11)
  assert.deepEqual(delays, [250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000, 10_000, undefined])
  const restarts = new RestartPolicy(2)
  assert.ok(!died(restarts, [0], 1_000).includes(undefined))
  // Once that worker is gone too, the count of attempts starts over.
  assert.deepEqual(died(restarts, [], 11).slice(-2), [10_000, undefined])
})
