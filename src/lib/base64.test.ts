import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeBase64 } from './base64.ts'

const content = fc.uint8Array({ minLength: 1, maxLength: 200 }).map((bytes) => Buffer.from(bytes))
const whiteSpace = fc.string({ unit: fc.constantFrom(' ', '\n', '\r', '\t', '\f'), maxLength: 3 })

test('decodes any bytes, in both alphabets, padded or not', () => {
  fc.assert(
    fc.property(content, (bytes) => {
      const standard = bytes.toString('base64')
      const forms = [standard, standard.replace(/=+$/, ''), bytes.toString('base64url')]
      forms.push(standard.replaceAll('+', '-').replaceAll('/', '_'))
      for (const text of forms) {
        assert.deepEqual(decodeBase64(text), bytes)
        assert.deepEqual(decodeBase64(Buffer.from(text)), bytes)
      }
    }),
  )
})

test('accepts white space anywhere and a data: prefix', () => {
  const prefix = fc.constantFrom(
    '',
    'data:image/png;base64,',
    'DATA:;BASE64,',
    'data:image/png;name=a.png;base64,',
  )
  fc.assert(
    fc.property(
      content,
      whiteSpace,
      prefix,
      fc.array(fc.tuple(fc.nat(300), whiteSpace), { maxLength: 5 }),
      (bytes, around, head, gaps) => {
        let text = bytes.toString('base64')
        for (const [at, gap] of gaps) text = text.slice(0, at) + gap + text.slice(at)
        assert.deepEqual(decodeBase64(`${around}${head}${around}${text}${around}`), bytes)
      },
    ),
  )
})

test('long texts', () => {
  for (const length of [49_151, 49_152, 49_153, 98_304, 300_001]) {
    const bytes = randomBytes(length)
    const text = bytes.toString('base64')
    assert.ok(decodeBase64(text)?.equals(bytes))
    assert.ok(decodeBase64(text.replace(/.{76}/g, '$&\r\n'))?.equals(bytes))
    for (const at of [0, 65_533, 65_536, text.length - 5]) {
      for (const foreign of ['!', '=']) {
        const spoilt = text.slice(0, at) + foreign + text.slice(at + 1)
        if (at < text.length - 2)
          assert.ok(decodeBase64(spoilt) === undefined, `${foreign} at ${at} of ${length}`)
      }
    }
  }
})

test('rejects everything else', () => {
  for (const text of [
    '', ' ', '=', '==', '====', 'A', 'A===', 'QUJDR', 'QUI==', 'QQ=', 'QQ===', 'QUJD=', 'QUJD==', 'QUJD====', '=QQ=', 'QQ=A',
    'QQ==QQ==', 'Q=Q=', 'QQ==\0', 'QUJ!', 'QUJD!', 'Q.UJ', 'QUJ\u0141', 'ＱＵＪＤ', 'QUJD\u00a0', 'QUJD\u000b', 'QUJ\u00e1',
    'data:,QUJD', 'data:image/png,QUJD', 'data:image/png;base64', 'data:;base64,', 'xdata:;base64,QUJD',
    `data:${'x'.repeat(2000)};base64,QUJD`, 'data:;base64,data:;base64,QUJD', '%51%55', 'QU%4A',
  ]) assert.equal(decodeBase64(text), undefined, JSON.stringify(text)) // prettier-ignore
})

test('accepts exactly the bytes that the grammar allows', () => {
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
