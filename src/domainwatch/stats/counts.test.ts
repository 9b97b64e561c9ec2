import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Totals, addDays, daysBetween } from './counts.ts'

test('counts of several parts add up', () => {
  const totals = new Totals()
  add(totals, 4, 'a', [3, 2, 1, 0, 1])
  add(totals, 6, 'b', [3, 3, 0, 1, 0])
  add(totals, 4, 'c', [1, 0, 0, 0, 0])
  add(totals, 9, 'd', [0, 0, 0, 0, 0])
  assert.deepEqual(totals.lengths(), { length: [4, 5, 6], count: [4, 0, 3] })
  assert.deepEqual(totals.agents(2), { agent: ['a', 'b'], count: [3, 3], others: 1 })
  const overall = { records: 7, bought: 5, deleted: 2, reserved: 1, revision: 1, discarded: 1 }
  assert.deepEqual(totals.overall, overall)
})

test('the first 10,000 agents are counted separately and no record is lost', () => {
  const totals = new Totals()
  for (let i = 0; i < 12_000; i++) add(totals, 5, `a${i}`, [1, 1, 0, 0, 0])
  add(totals, 5, 'a7', [5, 5, 0, 0, 0])
  add(totals, 5, 'a11999', [5, 5, 0, 0, 0])
  assert.deepEqual(totals.agents(1), { agent: ['a7'], count: [6], others: 12_010 - 6 })
})

function add(totals: Totals, length: number, agent: string, counts: readonly number[]): void {
  const [records = 0, bought = 0, reserved = 0, revision = 0, discarded = 0] = counts
  totals.addLength(length, { records, bought, reserved, revision, discarded })
  totals.addAgent(agent, records)
}

const ADDED: readonly [day: string, count: number, wanted: string][] = [
  ['2026-01-05', -89, '2025-10-08'],
  ['2024-02-28', 1, '2024-02-29'],
  ['2025-12-31', 1, '2026-01-01'],
  ['0001-01-02', -5, '0001-01-01'],
  ['9999-12-30', 5, '9999-12-31'],
]

for (const [day, count, wanted] of ADDED) {
  test(`${day} plus ${count} days`, () => assert.equal(addDays(day, count), wanted))
}

test('daysBetween counts both days', () => {
  assert.equal(daysBetween('2026-01-05', '2026-01-05'), 1)
  assert.equal(daysBetween('2023-12-31', '2025-01-01'), 368)
  assert.equal(daysBetween('2026-01-05', '2026-01-04'), 0)
})
