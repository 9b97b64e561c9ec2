import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { seal, unseal } from './sealed.ts'

const bytes = fc.uint8Array({ minLength: 1, maxLength: 200 })

test('what was sealed comes back as it was', () => {
  fc.assert(
    fc.property(bytes, (content) => {
      const opened = unseal(seal({ bytes: content, mime: 'image/avif' }))
      assert.equal(opened?.mime, 'image/avif')
      assert.deepEqual(new Uint8Array(opened.bytes), content)
    }),
  )
})

test('what is cut, zeroed from some place on, longer, or off by a bit does not', () => {
  fc.assert(
    fc.property(bytes, fc.nat(), fc.integer({ min: 0, max: 7 }), (content, place, bit) => {
      const sealed = seal({ bytes: content.map((octet) => octet | 1), mime: 'image/png' })
      const at = place % sealed.length
      assert.equal(unseal(sealed.subarray(0, at)), undefined)
      assert.equal(unseal(Buffer.concat([sealed, Buffer.of(0)])), undefined)
      const flipped = Buffer.from(sealed)
      flipped[at] = (flipped[at] ?? 0) ^ (1 << bit)
      assert.equal(unseal(flipped), undefined)
      const zeroed = Buffer.from(sealed).fill(0, at)
      assert.equal(unseal(zeroed), undefined)
    }),
  )
})
