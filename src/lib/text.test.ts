import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeUtf8, hasAtMostCharacters, PIECE_BYTES, replaceBytes } from './text.ts'

test('UTF-8 is decoded exactly, byte order mark included', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => assert.equal(decodeUtf8(Buffer.from(text)), text)),
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

test('a match across pieces is replaced', () => {
  const text = `${'A'.repeat(PIECE_BYTES - 1)}\\/`
  const replaced = replaceBytes(Buffer.from(text), /\\\//g, '/', '\\'.charCodeAt(0))
  assert.ok(replaced.equals(Buffer.from(text.replace('\\/', '/'))))
})

test('replacing in pieces equals replacing at a time', () => {
  const lead = '\\'.charCodeAt(0)
  const around = fc.integer({ min: PIECE_BYTES - 5, max: PIECE_BYTES + 5 })
  const tail = fc.string({ unit: fc.constantFrom('\\', '/', 'ñ', ' '), maxLength: 12 })
  fc.assert(
    fc.property(around, tail, (length, end) => {
      // Matches are pairs: a lead byte before the cut moves to the next piece.
      const text = 'A'.repeat(length) + end.replaceAll('\\\\', '')
      const bytes = Buffer.from(text, 'latin1')
      const replaced = replaceBytes(bytes, /\\\//g, '/', lead)
      assert.equal(replaced.toString('latin1'), text.replaceAll('\\/', '/'))
      assert.equal(replaceBytes(bytes, / +/g, '').toString('latin1'), text.replaceAll(' ', ''))
    }),
  )
})
