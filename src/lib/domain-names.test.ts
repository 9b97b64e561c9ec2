import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyCharacter } from '../../test/support/any-character.ts'
import { toALabel, foldSearch, parseDomain, parseLabel } from './domain-names.ts'

function accepted(input: string): [string, string] {
  const label = parseLabel(input)
  assert.ok(label.ok, `${JSON.stringify(input)} should be a label: ${JSON.stringify(label)}`)
  return [label.name, label.ascii]
}

function refused(input: string) {
  assert.deepEqual(parseLabel(input), { ok: false }, JSON.stringify(input))
}

test('a label is trimmed, lower-cased and normalized to NFC', () => {
  assert.deepEqual(accepted('casa'), ['casa', 'casa'])
  assert.deepEqual(accepted('  CaSa-2 \n'), ['casa-2', 'casa-2'])
  assert.deepEqual(accepted('1'), ['1', '1'])
  assert.deepEqual(accepted('ÑANDÚ'), ['ñandú', 'xn--and-6ma2c'])
  assert.deepEqual(accepted('N\u0303andu\u0301'), ['ñandú', 'xn--and-6ma2c'])
  assert.deepEqual(accepted('XN--AND-6MA2C'), ['ñandú', 'xn--and-6ma2c'])
  assert.deepEqual(accepted('áéíóúüñ'), ['áéíóúüñ', accepted('áéíóúüñ')[1]])
})

test('an invalid label is rejected', () => {
  for (const input of ['', ' ', '\t\n']) refused(input)
  for (const input of ['casa.cl', '.', 'a.', '.a', 'ñandú.cl', 'xn--and-6ma2c.cl']) refused(input)
  for (const input of ['a b', 'a_b', 'ç', 'ò', 'ß', 'ñ!', 'a\u0000', 'casa\u3002cl', '日本']) refused(input)
  for (const input of ['-', '-a', 'a-', 'ab--c', 'ñ-', '-ñ', 'ab--ñ', 'xn--ñ', '--']) refused(input)
})

test('homoglyphs are not in the alphabet', () => {
  for (const input of ['İ', 'ı', 'ſ', 'ａ', '①', 'ﬁ', 'а', 'a\u00adb', 'a\u200db', '\u0301a', 'K\u0301']) {
    assert.equal(parseLabel(input).ok, false, JSON.stringify(input))
  }
  assert.deepEqual(
    accepted('\u212Aiosko'),
    ['kiosko', 'kiosko'],
    'the Kelvin sign is a K, lower-cased a plain k',
  )
})

test('hyphens are allowed inside, except at positions 3 and 4 together', () => {
  for (const input of ['a-b', 'a--b', 'abc--d', 'ab-c', 'axn--b']) accepted(input)
  refused('ab---c')
})

test('a name has only one A-label', () => {
  for (const input of ['xn--', 'xn--casa-', 'xn--!', 'xn--0', 'xn--fiqs8s', 'xn--99999999999999']) {
    refused(input)
  }
  for (const input of ['xn--a', 'xn--casa', 'xn--fa-hia', 'xn--zca']) refused(input)
  for (const input of ['xn--ab---jqa', 'xn----rga', 'xn----qga', 'xn--xn---jqa']) refused(input)
  refused('xn--a--b-fqa')
})

test('a label has at most 63 octets in A-label form', () => {
  accepted('a'.repeat(63))
  refused('a'.repeat(64))
  refused('a'.repeat(1_000_000))
  const longest = 'a'.repeat(55) + 'ñ'
  assert.equal(accepted(longest)[1].length, 63)
  refused(`a${longest}`)
})

const letter = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz0123456789-áéíóúüñ')

test('every valid label is accepted, and both of its forms parse to it', () => {
  fc.assert(
    fc.property(fc.string({ unit: letter, minLength: 1, maxLength: 40 }), (text) => {
      fc.pre(!/^-|-$|^..--/.test(text))
      const label = parseLabel(text)
      if (!label.ok) return assert.ok(toALabel(text).length > 63)
      assert.equal(label.name, text)
      assert.match(label.ascii, /^[a-z0-9-]{1,63}$/)
      assert.deepEqual(parseLabel(label.ascii), label)
      assert.deepEqual(parseLabel(` ${text.toUpperCase().normalize('NFD')} `), label)
    }),
  )
})

test('any accepted label is canonical', () => {
  const anything = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 70 }),
    fc.string({ unit: 'grapheme', maxLength: 70 }),
    fc.string({ unit: letter, maxLength: 70 }).map((text) => `xn--${text}`),
    fc.string({ unit: letter, maxLength: 10 }),
  )
  fc.assert(
    fc.property(anything, (input) => {
      const label = parseLabel(input)
      if (!label.ok) return
      assert.match(label.name, /^(?!-)(?!..--)[a-z0-9áéíóúüñ-]{1,63}(?<!-)$/)
      assert.deepEqual(parseLabel(label.name), label)
    }),
    { numRuns: 2000 },
  )
})

test('a domain is a name under .cl', () => {
  const domain = (ascii: string, unicode = ascii) => ({ ok: true, ascii, unicode })
  assert.deepEqual(parseDomain('nic.cl'), domain('nic.cl'))
  assert.deepEqual(parseDomain(' NIC.CL. '), domain('nic.cl'))
  assert.deepEqual(parseDomain('www.ÑANDÚ.cl'), domain('www.xn--and-6ma2c.cl', 'www.ñandú.cl'))
  assert.deepEqual(parseDomain('xn--and-6ma2c.cl'), domain('xn--and-6ma2c.cl', 'ñandú.cl'))
  const faults = [
    '',
    'cl',
    'nic',
    'nic.com',
    'nic.cl.com',
    'niccl',
    '.cl',
    '.',
    'nic..cl',
    'nic.cl..',
    '_dmarc.nic.cl',
    'a .nic.cl',
    '-a.nic.cl',
    `${'a'.repeat(64)}.cl`,
  ]
  for (const input of faults) assert.deepEqual(parseDomain(input), { ok: false }, input)
})

test('a name has at most 253 octets', () => {
  const labels = Array.from({ length: 3 }, () => 'a'.repeat(63)).join('.')
  assert.equal(parseDomain(`${labels}.${'a'.repeat(58)}.cl.`).ok, true)
  assert.deepEqual(parseDomain(`${labels}.${'a'.repeat(59)}.cl`), { ok: false })
  assert.deepEqual(parseDomain(`${'a.'.repeat(100_000)}cl`), { ok: false })
})

test('a search text is folded and loses a final .cl', () => {
  assert.deepEqual(foldSearch(' CASA.CL '), { text: 'casa' })
  assert.deepEqual(foldSearch('N\u0303an'), { text: 'ñan' })
  assert.deepEqual(foldSearch('.cl'), { text: '' })
  assert.deepEqual(foldSearch('clima'), { text: 'clima' })
  assert.deepEqual(foldSearch('a.cl.b'), { text: 'a.cl.b' })
  assert.deepEqual(foldSearch('XN--and-6ma2c.cl'), { text: 'ñandú', ascii: 'xn--and-6ma2c' })
  assert.deepEqual(foldSearch('xn--and'), { text: 'xn--and', ascii: 'xn--and' })
})

test('any part of a name finds it', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: letter, minLength: 1, maxLength: 30 }),
      fc.nat(30),
      fc.nat(30),
      (text, a, b) => {
        const label = parseLabel(text)
        fc.pre(label.ok)
        const part = label.name.slice(Math.min(a, b), Math.max(a, b))
        assert.ok(label.name.includes(foldSearch(part.toUpperCase()).text))
        const whole = foldSearch(`${label.ascii}.cl`)
        assert.equal(whole.text, label.name)
      },
    ),
  )
})
