import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Candidates, CHUNK } from './candidates.ts'

/** More than two chunks, the last of them not whole. */
const WORDS = 2 * CHUNK + 5

/** Words of rows, of which most bits are set, one row behind the other as in the index. */
const rows = fc.array(
  fc
    .uint32Array({ minLength: WORDS, maxLength: WORDS })
    .map((words) => words.map((word) => word | 0x0ff0_0ff0)),
  { maxLength: 4 },
)

test('each word has the bits that all rows have, in whatever order words are asked for', () => {
  fc.assert(
    fc.property(rows, fc.array(fc.nat(WORDS - 1), { maxLength: 50 }), (given, asked) => {
      const bits = new Uint32Array(WORDS * given.length)
      for (const [i, row] of given.entries()) bits.set(row, i * WORDS)
      const candidates = new Candidates(
        given.map((_, i) => ({ bits, from: i * WORDS })),
        new Uint32Array(CHUNK),
      )
      for (const word of asked) {
        const wanted = given.reduce((left, row) => left & (row[word] ?? 0), -1)
        assert.equal(candidates.of(word) | 0, wanted)
      }
    }),
  )
})
