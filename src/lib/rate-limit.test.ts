import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RateLimit } from './rate-limit.ts'

test('allows a burst, then calls at the rate, separately for each client', () => {
  let now = 0
  const limit = new RateLimit({ burst: 2, perSecond: 0.5, maxClients: 10 }, () => now)
  const call = (client: string) => {
    const wait = limit.waitOf(client)
    if (wait === 0) limit.count(client)
    return wait
  }
  assert.deepEqual([call('a'), call('a'), call('a'), call('b')], [0, 0, 2_000, 0])
  now = 1_500
  assert.equal(call('a'), 500)
  now = 2_000
  assert.deepEqual([call('a'), call('a')], [0, 2_000])
  now = 1_000_000
  assert.deepEqual([call('a'), call('a'), call('a')], [0, 0, 2_000])
})
