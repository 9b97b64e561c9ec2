import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeChecksummed, encodeChecksummed } from './derivative-folder.ts'

const bytes = fc.uint8Array({ minLength: 1, maxLength: 200 })

test('an encoded image is decoded unchanged', () => {
  fc.assert(
    fc.property(bytes, (content) => {
      const opened = decodeChecksummed(encodeChecksummed({ bytes: content, mime: 'image/avif' }))
      assert.equal(opened?.mime, 'image/avif')
      assert.deepEqual(new Uint8Array(opened.bytes), content)
    }),
  )
})

test('a file that is cut, extended, partly zero or off by a bit is rejected', () => {
  fc.assert(
    fc.property(bytes, fc.nat(), fc.integer({ min: 0, max: 7 }), (content, place, bit) => {
      const file = encodeChecksummed({ bytes: content.map((octet) => octet | 1), mime: 'image/png' })
      const at = place % file.length
      assert.equal(decodeChecksummed(file.subarray(0, at)), undefined)
      assert.equal(decodeChecksummed(Buffer.concat([file, Buffer.of(0)])), undefined)
      const flipped = Buffer.from(file)
      flipped[at] = (flipped[at] ?? 0) ^ (1 << bit)
      assert.equal(decodeChecksummed(flipped), undefined)
      const zeroed = Buffer.from(file).fill(0, at)
      assert.equal(decodeChecksummed(zeroed), undefined)
    }),
  )
})
