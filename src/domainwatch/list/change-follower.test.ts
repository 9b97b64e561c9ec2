import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maxChangesBehind } from './change-follower.ts'

test('the number of changes followed grows with the records, up to a memory limit', () => {
  assert.deepEqual(
    [0, 1_000_000, 2_000_000, 10_000_000].map(maxChangesBehind),
    [300_000, 300_000, 500_000, 1_000_000],
  )
})
