import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Clock } from '../../lib/clock.ts'
import { KeyRateLimit, type Claim, type Grant, type ClaimRequests } from './key-rate-limit.ts'

const MINUTE = 60_000
const perMinute = (count: number) => ({ count, periodMs: MINUTE })

class TestClock implements Clock {
  ms = 1_000_000_000
  now(): number {
    return this.ms
  }
}

/** One window for each key, which ends a minute after it began. */
function windows(clock: Clock) {
  const counts = new Map<string, { count: number; endsAt: number }>()
  const claims: Claim[] = []
  const state = { isBroken: false, claims }
  const shared: ClaimRequests = async (all) => {
    if (state.isBroken) throw new Error('the database is away')
    claims.push(...all)
    return all.map(({ keyId, rate, count }): Grant => {
      const found = counts.get(keyId)
      const isOver = found === undefined || found.endsAt <= clock.now()
      const window = isOver ? { count: 0, endsAt: clock.now() + rate.periodMs } : found
      counts.set(keyId, window)
      const granted = Math.min(count, Math.max(0, rate.count - window.count))
      window.count += count
      return { keyId, granted, remainingMs: window.endsAt - clock.now() }
    })
  }
  return { ...state, state, shared }
}

async function passed(rates: KeyRateLimit, key: string, count: number, rate: number): Promise<number> {
  const waits = await Promise.all(Array.from({ length: count }, () => rates.take(key, perMinute(rate))))
  return waits.filter((wait) => wait === undefined).length
}

suite('applies rates of keys in one process', () => {
  test('concurrent requests share a claim, and rejected ones make none', async () => {
    const clock = new TestClock()
    const { shared, claims } = windows(clock)
    const rates = new KeyRateLimit(clock, shared)
    assert.equal(await passed(rates, 'a', 50, 20), 20)
    // The second finds the window exhausted.
    assert.deepEqual(
      claims.map(({ count }) => count),
      [20, 20],
    )
    assert.equal(await passed(rates, 'a', 500, 20), 0)
    assert.equal(await rates.take('a', perMinute(20)), MINUTE)
    clock.ms += 40_000
    assert.equal(await rates.take('a', perMinute(20)), 20_000)
    assert.equal(claims.length, 2)
    clock.ms += 20_000
    assert.equal(await passed(rates, 'a', 50, 20), 20)
  })

  test('a batch serves many requests without another claim', async () => {
    const clock = new TestClock()
    const { shared, claims } = windows(clock)
    const rates = new KeyRateLimit(clock, shared)
    for (let i = 0; i < 6_400; i++) assert.equal(await rates.take('a', perMinute(6_400)), undefined)
    assert.ok(claims.length <= 66, String(claims.length))
    assert.notEqual(await rates.take('a', perMinute(6_400)), undefined)
  })

  test('without the database a process allows the full rate', async () => {
    const clock = new TestClock()
    const { shared, state } = windows(clock)
    const rates = new KeyRateLimit(clock, shared)
    assert.equal(await passed(rates, 'a', 4, 10), 4)
    state.isBroken = true
    assert.equal(await passed(rates, 'a', 50, 10), 10)
    clock.ms += MINUTE / 2
    assert.equal(await rates.take('a', perMinute(10)), MINUTE / 2)
    state.isBroken = false
    clock.ms += MINUTE
    assert.equal(await passed(rates, 'a', 50, 10), 10)
  })

  test('only one request waits for an unresponsive database', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const clock = new TestClock()
    const silent = Promise.withResolvers<readonly Grant[]>()
    const rates = new KeyRateLimit(clock, () => silent.promise)
    const first = passed(rates, 'a', 20, 10)
    t.mock.timers.tick(3_000)
    assert.equal(await first, 10)
    // Decided without the database, which cannot respond.
    assert.equal(await passed(rates, 'b', 20, 10), 10)
    silent.resolve([{ keyId: 'a', granted: 10, remainingMs: MINUTE }])
    await rates.close()
  })

  test('unused claims are returned on close', async () => {
    const clock = new TestClock()
    const { shared, claims } = windows(clock)
    const rates = new KeyRateLimit(clock, shared)
    await rates.take('a', perMinute(640))
    await rates.close()
    assert.deepEqual(
      claims.map(({ keyId, count }) => [keyId, count]),
      [
        ['a', 10],
        ['a', -9],
      ],
    )
  })
})
