import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAYS, lastDays } from './upload-days.ts'

test('includes days without uploads, and omits older ones', () => {
  const now = Date.parse('2026-03-01T23:59:59Z')
  const days = lastDays(
    [
      { day: '2026-03-01', images: 2, bytes: 20 },
      { day: '2026-02-27', images: 1, bytes: 5 },
      { day: '2025-01-01', images: 9, bytes: 9 },
    ],
    now,
  )
  assert.equal(days.length, DAYS)
  assert.deepEqual(days.slice(-3), [
    { day: '2026-02-27', images: 1, bytes: 5 },
    { day: '2026-02-28', images: 0, bytes: 0 },
    { day: '2026-03-01', images: 2, bytes: 20 },
  ])
  assert.equal(
    days.reduce((sum, { images }) => sum + images, 0),
    3,
  )
})
