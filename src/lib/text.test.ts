import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyCharacter } from '../../test/support/any-character.ts'
import { hasAtMostCharacters } from './text.ts'
import { decodeUtf8 } from './bytes.ts'

test('UTF-8 is decoded exactly, byte order mark included', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) =>
      assert.equal(decodeUtf8(Buffer.from(text)), text),
    ),
  )
  assert.equal(decodeUtf8(Buffer.from('\ufeffx')), '\ufeffx')
})

test('counts code points, not UTF-16 code units', () => {
  const unit = fc.constantFrom('a', 'ñ', '🔭', 'e\u0301', '\ud800')
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 12 }), fc.nat(14), (units, most) => {
      const text = units.join('')
      assert.equal(hasAtMostCharacters(text, most), [...text].length <= most)
    }),
  )
})

test('invalid UTF-8 is undefined, without replacement characters', () => {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 8 }), (bytes) => {
      let expected: string | undefined
      try {
        expected = decoder.decode(bytes)
      } catch {
        expected = undefined
      }
      assert.equal(decodeUtf8(Buffer.from(bytes)), expected)
    }),
  )
  assert.equal(decodeUtf8(Buffer.from([0xf1])), undefined, 'ñ in Latin-1')
})
