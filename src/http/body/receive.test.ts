import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GrowingBuffer } from './receive.ts'

const MIB = 1024 * 1024

function grown(max: number, pieces: readonly number[]) {
  const charges: number[] = []
  const bytes = new GrowingBuffer(max, (more) => charges.push(more))
  let next = 0
  for (const size of pieces) bytes.append(Uint8Array.from({ length: size }, () => next++))
  const taken = bytes.take()
  const expected = Uint8Array.from({ length: next }, (_, i) => i)
  assert.deepEqual(taken, expected)
  assert.equal(taken.buffer.byteLength, next, 'they own their memory')
  return charges
}

test('a body in one chunk allocates its size', () => assert.deepEqual(grown(5_000, [5_000]), [5_000]))

test('memory grows with received bytes, not with the announced length', () => {
  assert.deepEqual(grown(40 * MIB, [1]), [16_384])
  assert.deepEqual(grown(40 * MIB, [10_000, 10_000, 10_000]), [16_384, 16_384])
  assert.deepEqual(grown(20_000, [10_000, 10_000]), [16_384, 3_616])
})

test('never charges more than twice the received bytes', () => {
  let charged = 0
  const bytes = new GrowingBuffer(4 * MIB, (more) => (charged += more))
  for (let i = 0; i < 64; i++) {
    bytes.append(new Uint8Array(65_536))
    assert.ok(charged <= 2 * bytes.length)
  }
  assert.equal(charged, 4 * MIB)
})

test('an empty body takes no memory', () => assert.deepEqual(grown(10, []), []))
