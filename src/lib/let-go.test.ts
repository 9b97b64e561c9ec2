import assert from 'node:assert/strict'
import { test } from 'node:test'
import { letGo } from './let-go.ts'

test('bytes that own their memory are given up', () => {
  const bytes = new Uint8Array(1_000).fill(7)
  const { buffer } = bytes
  letGo(bytes)
  assert.deepEqual([bytes.byteLength, buffer.byteLength, buffer.detached], [0, 0, true])
  // Once more does nothing.
  letGo(bytes)
  const own = Buffer.allocUnsafeSlow(1_000)
  letGo(own)
  assert.equal(own.byteLength, 0)
})

test('what others may look at stays', () => {
  const pooled = Buffer.from('un texto')
  letGo(pooled)
  assert.equal(pooled.toString(), 'un texto')
  const whole = new Uint8Array(10).fill(1)
  letGo(whole.subarray(1))
  letGo(whole.subarray(0, 9))
  assert.equal(whole.byteLength, 10)
  const shared = new Uint8Array(new SharedArrayBuffer(10))
  letGo(shared)
  assert.equal(shared.byteLength, 10)
})
