import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BatchSize } from './writer.ts'

test('as many rows as fit in a second, at most twice the last number and at most 50,000', () => {
  const pace = new BatchSize()
  assert.equal(pace.rows, 10_000)
  pace.record(10_000, 250)
  assert.equal(pace.rows, 20_000)
  pace.record(20_000, 800)
  assert.equal(pace.rows, 25_000)
  pace.record(25_000, 0)
  assert.equal(pace.rows, 50_000)
  pace.record(50_000, 100)
  assert.equal(pace.rows, 50_000)
})

test('a slow database gets fewer rows, down to a minimum', () => {
  const pace = new BatchSize()
  pace.record(10_000, 4_000)
  assert.equal(pace.rows, 2_500)
  pace.record(2_500, 60_000)
  assert.equal(pace.rows, 1_000)
})

test('a smaller batch has no effect', () => {
  const pace = new BatchSize()
  pace.record(37, 900)
  assert.equal(pace.rows, 10_000)
})
