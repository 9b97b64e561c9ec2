import assert from 'node:assert/strict'
import { test } from 'node:test'
import { domainToASCII, domainToUnicode } from 'node:url'
import fc from 'fast-check'
import { decodePunycode, encodePunycode } from './punycode.ts'

const idnLabel = fc
  .string({ unit: fc.constantFrom(...'abcxyz019áéíóúüñ'), minLength: 1, maxLength: 40 })
  .filter((label) => /[^a-z0-9]/.test(label))

test('encodes and decodes known labels', () => {
  const pairs = [
    ['ñandú', 'and-6ma2c'],
    ['ñ', 'ida'],
    ['peñalolén', 'pealoln-gya1e'],
    ['bücher', 'bcher-kva'],
  ] as const
  for (const [label, punycode] of pairs) {
    assert.equal(encodePunycode(label), punycode)
    assert.equal(decodePunycode(punycode), label)
  }
})

test('agrees with the URL standard on labels of the .cl alphabet', () => {
  fc.assert(
    fc.property(idnLabel, (label) => {
      const ascii = `xn--${encodePunycode(label)}`
      if (ascii.length > 63) return
      assert.equal(ascii, domainToASCII(label))
      assert.equal(domainToUnicode(ascii), label)
    }),
  )
})

test('decodes what it encodes', () => {
  fc.assert(fc.property(idnLabel, (label) => assert.equal(decodePunycode(encodePunycode(label)), label)))
})

test('anything else decodes to Latin-1 or to nothing, and never throws', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'abcz09-ñ.'), maxLength: 60 }), (text) => {
      const decoded = decodePunycode(text)
      if (decoded !== undefined) assert.equal(Buffer.from(decoded, 'latin1').toString('latin1'), decoded)
    }),
  )
  assert.equal(decodePunycode('99999999999999999999999999999999999999999999999999'), undefined)
  assert.equal(decodePunycode('fiqs8s'), undefined, 'Chinese')
  assert.equal(decodePunycode('a-'), 'a')
})
