import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addDays, daysBetween } from './days.ts'

const ADDED: readonly [day: string, count: number, wanted: string][] = [
  ['2026-01-05', -89, '2025-10-08'],
  ['2024-02-28', 1, '2024-02-29'],
  ['2025-12-31', 1, '2026-01-01'],
  ['0001-01-02', -5, '0001-01-01'],
  ['9999-12-30', 5, '9999-12-31'],
]

for (const [day, count, wanted] of ADDED) {
  test(`${day} and ${count} days`, () => assert.equal(addDays(day, count), wanted))
}

test('days from one to another, both included', () => {
  assert.equal(daysBetween('2026-01-05', '2026-01-05'), 1)
  assert.equal(daysBetween('2023-12-31', '2025-01-01'), 368)
  assert.equal(daysBetween('2026-01-05', '2026-01-04'), 0)
})
