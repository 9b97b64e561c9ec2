import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyCharacter } from '../../test/support/any-character.ts'
import { escapeHidden, fromCell, hasAtMostCharacters, isDisplayName, isDisplayText, toCell } from './text.ts'

const SPECIAL = [
  "'",
  '=',
  '+',
  '-',
  '@',
  '\t',
  '\r',
  '\n',
  '\\',
  'u',
  '0',
  '2',
  'e',
  'a',
  '\u202e',
  '\u2066',
  '\u0085',
  '\ufeff',
  '\u200d',
  '\ufe0f',
  '\u{e0061}',
  '\u{1f3f4}',
  '🔭',
]
const text = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 20 }),
  fc.array(fc.constantFrom(...SPECIAL), { maxLength: 12 }).map((parts) => parts.join('')),
)

test('a cell restores its text, is not a formula and shows every character', () => {
  fc.assert(
    fc.property(text, (given) => {
      const cell = toCell(given)
      assert.equal(fromCell(cell), given)
      assert.doesNotMatch(cell, /(^|[,;"])[=+\-@]/)
      assert.ok(isDisplayName(cell))
    }),
    { numRuns: 2_000 },
  )
})

test('escaped JSON has no control characters and the same value', () => {
  fc.assert(
    fc.property(text, (given) => {
      const json = escapeHidden(JSON.stringify([given]))
      assert.deepEqual(JSON.parse(json), [given])
      assert.ok(isDisplayName(json))
    }),
  )
})

test('an ordinary text is its own cell', () => {
  for (const plain of ['Agencia Ñandú', "O'Higgins", "'comillas'", 'a=b', 'C:\\usuarios', '👩‍🚀', '']) {
    assert.equal(toCell(plain), plain)
    assert.equal(fromCell(plain), plain)
  }
  assert.equal(toCell('=1+1'), "'=1+1")
  assert.equal(toCell("'=1"), "''=1")
  assert.equal(toCell('a\u202eb\u0007'), 'a\\u202eb\\u0007')
  assert.equal(toCell('\\u202e'), '\\u005cu202e')
})

test('a display name has no control or invisible character', () => {
  const bad = [
    0, 7, 9, 0x7f, 0x85, 0xad, 0x34f, 0xd800, 0x61c, 0x115f, 0x180e, 0x200b, 0x200c, 0x200d, 0x200e, 0x2028,
    0x2029, 0x202a, 0x202e, 0x2060, 0x2064, 0x2066, 0x2069, 0x206f, 0x3164, 0xfe0f, 0xfeff, 0xffa0, 0xfff9,
    0xe0001, 0xe0061,
  ]
  for (const code of bad) assert.ok(!isDisplayName(`a${String.fromCodePoint(code)}b`), code.toString(16))
  const good = [
    ['Ñandú', 'n\u0303', 'می‌خواهم', 'क्‍ष', '日本', '\u00a0', '¿qué?'],
    ['👩‍🚀', '👩🏽‍🚀', '❤️', '🏳️‍🌈', '1️⃣', '👨‍👩‍👧‍👦', '🧑🏻‍❤️‍💋‍🧑🏼', '🇨🇱', '🏴󠁧󠁢󠁥󠁮󠁧󠁿'],
  ].flat()
  for (const text of good) assert.ok(isDisplayName(text), text)
  assert.deepEqual(
    [isDisplayName('a\nb'), isDisplayText('a\r\nb'), isDisplayText('a\tb')],
    [false, true, false],
  )
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
