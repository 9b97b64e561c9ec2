import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasShape, toShape, toSyllables } from './domain-names.ts'

/** Words with a hyphen between syllables, by the rules of Spanish orthography. */
const WORDS = readFileSync(new URL('../../test/fixtures/spanish-syllables.txt', import.meta.url), 'utf8')
  .trim()
  .split(/\s+/)

test('syllables of Spanish words', () => {
  assert.ok(WORDS.length >= 500)
  for (const word of WORDS) assert.equal(toSyllables(word.replaceAll('-', '')), word.split('-').length, word)
})

test('an h between vowels separates them', () => {
  assert.equal(toSyllables('prohibido'), 4)
})

test('what is not a pronounceable name has no syllables', () => {
  for (const name of ['bcd', 'ñ', 'casa1', '4', 'mi-casa', 'xyó-a', 'gqw'])
    assert.equal(toSyllables(name), null, name)
})

/** The second definition: the fewest nuclei that a run of vowels can be cut into. */
function fewestNuclei(vowels: string): number {
  if (vowels === '') return 0
  const counts = [1, 2, 3]
    .filter((length) => length <= vowels.length && isNucleus(vowels.slice(0, length)))
    .map((length) => fewestNuclei(vowels.slice(length)))
  return 1 + Math.min(...counts)
}

function isNucleus(vowels: string): boolean {
  const [first = '', second = '', third = ''] = vowels
  const isOpen = (vowel: string) => 'aeoáéó'.includes(vowel)
  const isGlide = (vowel: string) => 'iuü'.includes(vowel)
  const isI = (vowel: string) => 'ií'.includes(vowel)
  if (vowels.length === 1) return true
  if (vowels.length === 3) return isGlide(first) && isOpen(second) && isGlide(third)
  if (isOpen(first)) return isGlide(second)
  return isOpen(second) ? isGlide(first) : isI(first) !== isI(second)
}

/** The runs of vowels that are pronounced. */
function vowelRuns(name: string): string[] {
  const isVowel = (letter = '') => letter !== '' && 'aeiouáéíóúü'.includes(letter)
  const runs = ['']
  for (const [i, letter] of [...name].entries()) {
    const [before = ' ', next = ' '] = [name[i - 1], name[i + 1]]
    if (letter === 'u' && 'qg'.includes(before) && 'eéií'.includes(next)) continue
    const vowel = letter === 'y' && !isVowel(next) ? 'i' : letter
    if (isVowel(vowel)) runs.push((runs.pop() ?? '') + vowel)
    else runs.push('')
  }
  return runs
}

const letters = fc.string({ unit: fc.constantFrom(...'aeiouáéíóúüyqgñhb'), minLength: 1, maxLength: 12 })
const name = fc.oneof(
  letters,
  fc.stringMatching(/^[a-zñáéíóúü]{1,20}$/),
  fc.stringMatching(/^[aiuíúüy-]{1,8}\d?$/),
)

test('syllables are the fewest nuclei', () => {
  fc.assert(
    fc.property(name, (one) => {
      const count = vowelRuns(one).reduce((sum, run) => sum + fewestNuclei(run), 0)
      assert.equal(toSyllables(one), /[\d-]/.test(one) || count === 0 ? null : count)
    }),
    { numRuns: 2_000 },
  )
})

const SYMBOLS = { C: 'bcdfghjklmnñpqrstvwxyz', V: 'aeiouáéíóúü', N: '0123456789', H: '-' }

test('a shape has a letter per character', () => {
  assert.equal(toShape('ñandú-2y'), 'CVCCVHNC')
  for (const [letter, characters] of Object.entries(SYMBOLS))
    assert.equal(toShape(characters), letter.repeat(characters.length))
})

const RUN_OF = { C: '[^aeiouáéíóúü0-9-]', V: '[aeiouáéíóúü]', N: '[0-9]', H: '-', L: '[a-zñáéíóúü]' }

test('a name has the shapes whose letters stand for its characters', () => {
  const shape = fc.string({ unit: fc.constantFrom('C', 'V', 'N', 'H', 'L'), minLength: 1, maxLength: 5 })
  const named = fc.stringMatching(/^[abeñyúü1-]{1,5}$/)
  fc.assert(
    fc.property(shape, named, (wanted, one) => {
      const expression = new RegExp(`^${[...wanted].map((letter) => Object(RUN_OF)[letter]).join('')}$`)
      assert.equal(hasShape(one, wanted), expression.test(one))
      const own = toShape(one)
      assert.ok(hasShape(one, own))
      assert.ok(hasShape(one, own.replaceAll(/[CV]/g, 'L')))
    }),
  )
})
