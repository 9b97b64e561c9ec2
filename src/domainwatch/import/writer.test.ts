import { test } from 'node:test'
import { RowBuffer, type SortedRows } from './writer.ts'
import assert from 'node:assert/strict'

function toBuffer(...rows: readonly (readonly [name: string, date: string])[]): RowBuffer {
  const buffer = new RowBuffer(0)
  for (const [name, date] of rows)
    buffer.add(name, JSON.stringify([name, null, name.length, null, null, 1, 0, date]))
  return buffer
}

function all(rows: SortedRows, count = 2): unknown[] {
  const taken: unknown[] = []
  while (!rows.isEmpty) {
    const { names, json } = rows.take(count)
    assert.ok(names.length <= count)
    const read: unknown = JSON.parse(json)
    assert.ok(Array.isArray(read))
    assert.deepEqual(
      read.map(([name]) => name),
      names,
    )
    taken.push(...read.map(([name, , , , , , , date]) => `${name} ${date}`))
  }
  return taken
}

test('rows are sorted by name, a prefix first', () => {
  const buffer = toBuffer(['ñu', '1'], ['casa', '2'], ['casa-2', '3'], ['casas', '4'], ['1', '5'])
  assert.deepEqual(all(buffer.sorted('last')), ['1 5', 'casa 2', 'casa-2 3', 'casas 4', 'ñu 1'])
})

test('the last of several lines counts, and the newest of several registrations', () => {
  const lines = [
    ['b', '2'],
    ['a', '3'],
    ['a', '9'],
    ['a', '4'],
    ['b', '1'],
  ] as const
  assert.deepEqual(all(toBuffer(...lines).sorted('last')), ['a 4', 'b 1'])
  assert.deepEqual(all(toBuffer(...lines).sorted('newest')), ['a 9', 'b 2'])
})

test('the first buffer is small, later ones grow up to a limit', () => {
  const getLength = (before: number) => {
    const buffer = new RowBuffer(before)
    let length = 0
    for (; !buffer.isFull; length++) buffer.add(`n${length}`, '[]')
    return length
  }
  assert.deepEqual([1_000, 70_000, 10_000_000].map(getLength), [50_000, 70_000, 500_000])
  // A million of the longest rows would be half a gigabyte.
  const buffer = new RowBuffer(10_000_000)
  const row = JSON.stringify(['x'.repeat(60_000)])
  for (let i = 0; i < 2_000 && !buffer.isFull; i++) buffer.add(`n${i}`, row)
  assert.equal(buffer.isFull, true)
})
