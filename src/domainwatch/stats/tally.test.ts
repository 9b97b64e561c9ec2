import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Tally } from './tally.ts'

test('parts add up', () => {
  const tally = new Tally()
  add(tally, 4, 'a', [3, 2, 1, 0, 1])
  add(tally, 6, 'b', [3, 3, 0, 1, 0])
  add(tally, 4, 'c', [1, 0, 0, 0, 0])
  add(tally, 9, 'd', [0, 0, 0, 0, 0])
  assert.deepEqual(tally.lengths(), { length: [4, 5, 6], count: [4, 0, 3] })
  assert.deepEqual(tally.agents(2), { agent: ['a', 'b'], count: [3, 3], others: 1 })
  const totals = { records: 7, bought: 5, deleted: 2, reserved: 1, revision: 1, discarded: 1 }
  assert.deepEqual(tally.totals, totals)
})

test('of endless agents the first 10,000 are told apart, and no record is lost', () => {
  const tally = new Tally()
  for (let i = 0; i < 12_000; i++) add(tally, 5, `a${i}`, [1, 1, 0, 0, 0])
  add(tally, 5, 'a7', [5, 5, 0, 0, 0])
  add(tally, 5, 'a11999', [5, 5, 0, 0, 0])
  assert.deepEqual(tally.agents(1), { agent: ['a7'], count: [6], others: 12_010 - 6 })
})

test('nothing', () => {
  assert.deepEqual(new Tally().lengths(), { length: [], count: [] })
  assert.deepEqual(new Tally().agents(5), { agent: [], count: [], others: 0 })
})

function add(tally: Tally, length: number, agent: string, counts: readonly number[]): void {
  const [records = 0, bought = 0, reserved = 0, revision = 0, discarded = 0] = counts
  tally.addLength(length, { records, bought, reserved, revision, discarded })
  tally.addAgent(agent, records)
}
