import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addDays, DAYS, lastDays, selectedSpan, toBuckets, spanAround } from './day-buckets.ts'

const series = (days: number) => {
  const date = Array.from({ length: days }, (_, i) => addDays('2025-01-01', i))
  return { date, registered: date.map(() => 2), deleted: date.map((_, i) => i % 2) }
}

test('a bar has as many days as keep bars distinguishable, and no record is lost', () => {
  assert.equal(toBuckets(series(90)).length, 90)
  const year = toBuckets(series(365))
  assert.equal(year.length, 122)
  assert.deepEqual(year[0], { from: '2025-01-01', to: '2025-01-03', registered: 6, deleted: 1 })
  assert.deepEqual(year.at(-1), { from: '2025-12-30', to: '2025-12-31', registered: 4, deleted: 1 })
  assert.equal(
    year.reduce((sum, { registered, deleted }) => sum + registered + deleted, 0),
    365 * 2 + 182,
  )
  assert.deepEqual(toBuckets(series(0)), [])
})

test('the shown days stay if they contain the filter, otherwise they surround it', () => {
  const shown = { from: '2025-10-01', to: '2025-12-31' }
  assert.equal(spanAround({}, shown), undefined)
  assert.equal(spanAround({ from: '2025-10-01', to: '2025-10-02 10:00:00' }, shown), undefined)
  assert.equal(spanAround({ from: 'soon' }, shown), undefined)
  assert.equal(spanAround({ from: '2025-01-02', to: '2025-01-01' }, shown), undefined)
  assert.deepEqual(spanAround({ from: '2025-03-01', to: '2025-03-01' }, shown), {
    from: '2025-01-15',
    to: '2025-04-15',
  })
  assert.deepEqual(spanAround({ from: '2025-01-01' }, shown), { from: '2024-10-01', to: '2025-12-31' })
})

test('returns the bars that a filter covers', () => {
  const buckets = toBuckets(series(10))
  assert.equal(selectedSpan(buckets, {}), undefined)
  assert.deepEqual(selectedSpan(buckets, { from: '2025-01-03', to: '2025-01-05 12:00:00' }), [2, 4])
  assert.deepEqual(selectedSpan(buckets, { to: '2025-01-02' }), [0, 1])
  assert.equal(selectedSpan(buckets, { from: '2026-01-01' }), undefined)
})

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
