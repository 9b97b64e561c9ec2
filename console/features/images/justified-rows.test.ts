import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { justifiedRows } from './justified-rows.ts'

const sized = fc.record({
  width: fc.integer({ min: 1, max: 20_000 }),
  height: fc.integer({ min: 1, max: 20_000 }),
})

test('places every image once and in order, and fills every row except the last', () => {
  fc.assert(
    fc.property(fc.array(sized, { maxLength: 60 }), fc.integer({ min: 200, max: 3_000 }), (items, width) => {
      const rows = justifiedRows(items, width, 200, 6)
      assert.deepEqual(
        rows.flatMap((row) => row.items.map(({ item }) => item)),
        items,
      )
      for (const [i, row] of rows.entries()) {
        const last = row.items.at(-1)
        const right = (last?.left ?? 0) + (last?.width ?? 0)
        assert.ok(right <= width + 1e-6)
        if (i < rows.length - 1) assert.ok(Math.abs(right - width) < 1e-6)
        assert.ok(row.height <= 200 + 1e-6)
      }
    }),
  )
})
