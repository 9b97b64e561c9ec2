import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compareKeys } from './sync-tables.ts'

const texts = fc.string({
  unit: fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    fc.constantFrom('\ue000', '\uffff', '\u{10000}', '\ud7ff'),
  ),
})

test('strings sort like their UTF-8 bytes', () => {
  fc.assert(
    fc.property(texts, texts, (a, b) => {
      assert.equal(Math.sign(compareKeys([a], [b], 1)), Buffer.compare(Buffer.from(a), Buffer.from(b)))
    }),
    { numRuns: 2_000 },
  )
})

test('keys sort by their first difference, numbers by value', () => {
  const rows = [
    [9, 'b'],
    [10, 'a'],
    [10, 'b'],
  ]
  const shuffled = [rows[2], rows[0], rows[1]].flatMap((row) => (row === undefined ? [] : [row]))
  assert.deepEqual(
    shuffled.toSorted((a, b) => compareKeys(a, b, 2)),
    rows,
  )
  assert.equal(compareKeys([10, 'a', 1], [10, 'a', 2], 2), 0)
  assert.throws(() => compareKeys([1], ['1'], 1), TypeError)
})
