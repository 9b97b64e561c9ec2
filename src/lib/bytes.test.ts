import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyCharacter } from '../../test/support/any-character.ts'
import { decodeBase64, decodeUtf8 } from './bytes.ts'

test('base64 rejects everything else', () => {
  for (const text of [
    '', ' ', '=', '==', '====', 'A', 'A===', 'QUJDR', 'QUI==', 'QQ=', 'QQ===', 'QUJD=', 'QUJD==', 'QUJD====', '=QQ=', 'QQ=A',
    'QQ==QQ==', 'Q=Q=', 'QQ==\0', 'QUJ!', 'QUJD!', 'Q.UJ', 'QUJ\u0141', 'ＱＵＪＤ', 'QUJD\u00a0', 'QUJD\u000b', 'QUJ\u00e1',
    'data:,QUJD', 'data:image/png,QUJD', 'data:image/png;base64', 'data:;base64,', 'xdata:;base64,QUJD',
    `data:${'x'.repeat(2000)};base64,QUJD`, 'data:;base64,data:;base64,QUJD', '%51%55', 'QU%4A',
  ]) assert.equal(decodeBase64(text), undefined, JSON.stringify(text)) // prettier-ignore
})

test('base64 accepts exactly the bytes that the grammar allows', () => {
  const soup = fc.array(fc.constantFrom(...Buffer.from('AQz09+/-_== \n!\u00f1')), { maxLength: 12 })
  fc.assert(
    fc.property(soup, (given) => {
      const bytes = Buffer.from(given)
      const text = bytes.toString('latin1').replace(/[ \n]/g, '')
      const match = /^([A-Za-z0-9+/_-]+)(={0,2})$/.exec(text)
      const symbols = match?.[1]?.length ?? 0
      const padding = match?.[2]?.length ?? 0
      const valid = symbols > 0 && symbols % 4 !== 1 && (padding === 0 || (symbols + padding) % 4 === 0)
      const expected = valid ? Buffer.from(text, 'base64') : undefined
      assert.deepEqual(decodeBase64(bytes), expected)
    }),
    { numRuns: 5000 },
  )
})

test('UTF-8 is decoded exactly, byte order mark included', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) =>
      assert.equal(decodeUtf8(Buffer.from(text)), text),
    ),
  )
  assert.equal(decodeUtf8(Buffer.from('\ufeffx')), '\ufeffx')
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
