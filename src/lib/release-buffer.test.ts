import assert from 'node:assert/strict'
import { test } from 'node:test'
import { releaseBuffer } from './release-buffer.ts'

test('frees bytes that own their memory', () => {
  const bytes = new Uint8Array(1_000).fill(7)
  const { buffer } = bytes
  releaseBuffer(bytes)
  assert.deepEqual([bytes.byteLength, buffer.byteLength, buffer.detached], [0, 0, true])
  // A second call has no effect.
  releaseBuffer(bytes)
  const own = Buffer.allocUnsafeSlow(1_000)
  releaseBuffer(own)
  assert.equal(own.byteLength, 0)
})

test('leaves shared memory alone', () => {
  const pooled = Buffer.from('un texto')
  releaseBuffer(pooled)
  assert.equal(pooled.toString(), 'un texto')
  const whole = new Uint8Array(10).fill(1)
  releaseBuffer(whole.subarray(1))
  releaseBuffer(whole.subarray(0, 9))
  assert.equal(whole.byteLength, 10)
  const shared = new Uint8Array(new SharedArrayBuffer(10))
  releaseBuffer(shared)
  assert.equal(shared.byteLength, 10)
})
