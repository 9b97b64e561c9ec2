import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasShape, shapeOf, syllablesOf } from './name-spelling.ts'

/** Words with a hyphen between syllables, by the rules of Spanish orthography. */
const WORDS = `
  sol pan flor tren mar cruz ca-sa pla-za mun-do ver-de es-pa-ña ni-ño ñan-dú mon-ta-ña te-lé-fo-no plás-ti-co trans-por-te
  pa-ís pais ma-íz ra-íz ba-úl ra-úl re-ír o-ír le-í-do o-í-do ca-í-da ha-cí-a dí-a tí-o rí-o frí-o pú-a ac-tú-a con-ti-nú-o gra-dú-a
  e-va-lú-a re-ú-ne sa-ú-co ma-rí-a a-le-grí-a e-ner-gí-a po-e-sí-a pa-na-de-rí-a pe-lu-que-rí-a li-bre-rí-a fe-rre-te-rí-a
  tec-no-lo-gí-a e-co-no-mí-a ge-o-me-trí-a vi-ví-ais o-í-ais cons-truí-a huí-a
  po-e-ta te-a-tro a-é-re-o le-ón ca-os o-cé-a-no ma-es-tro pe-ón co-o-pe-rar le-er cre-er zo-o ro-er lí-ne-a hé-ro-e to-a-lla i-de-a mu-se-o
  a-ho-ra al-co-hol bú-ho chi-i-ta ti-í-to
  que quien que-so qui-tar qui-nien-tos pe-que-ño par-que má-qui-na e-qui-po quí-mi-ca quios-co es-qui-na blo-que cual-quier
  gue-rra gui-ta-rra guí-a guion guió si-guien-te ho-gue-ra á-gui-la ju-gue-te se-guir hi-gue-ra
  pin-güi-no ci-güe-ña ver-güen-za bi-lin-güe an-ti-güe-dad lin-güís-ti-ca pa-ra-güe-ro de-sa-güe güi-ro ar-güir pi-ra-güis-mo
  a-gua len-gua guar-dia guan-te an-ti-guo a-ve-ri-guar a-ve-ri-guáis cuo-ta cua-tro cui-da-do a-cuo-so
  y ley rey muy hoy es-toy buey con-voy vi-rrey pa-ra-guay u-ru-guay pla-ya yo ya-te ma-yo ra-yo le-yes a-yer yu-ca ye-gua a-yu-da jo-ya a-rro-yo in-yec-tar
  can-ción na-ción es-ta-ción in-for-ma-ción e-du-ca-ción fun-da-ción cons-truc-ción ins-ta-la-cio-nes ca-mión a-vión re-gión o-pi-nión
  tam-bién des-pués pie ciem-piés cláu-su-la náu-ti-co béis-bol hués-ped pe-rió-di-co mur-cié-la-go co-piáis lim-piáis
  cuí-da-te ca-suís-ti-ca viu-da ciu-dad triun-fo rui-do jui-cio rui-na hui-da in-clui-do huir fui cons-trui-do je-sui-ta
  eu-ro-pa deu-da au-to cau-sa pei-ne a-cei-te boi-na seis vein-te miau es-ta-dou-ni-den-se
  cam-biar lim-pio fa-mi-lia no-via na-die ser-vi-cio ne-go-cio co-mer-cio far-ma-cia ve-te-ri-na-ria in-mo-bi-lia-ria hue-so hier-ba
`
  .trim()
  .split(/\s+/)

test('syllables of Spanish words', () => {
  assert.ok(WORDS.length >= 200)
  for (const word of WORDS) assert.equal(syllablesOf(word.replaceAll('-', '')), word.split('-').length, word)
})

test('an h between vowels separates them', () => {
  assert.equal(syllablesOf('prohibido'), 4)
})

test('what is not a pronounceable name has no syllables', () => {
  for (const name of ['bcd', 'ñ', 'casa1', '4', 'mi-casa', 'xyó-a', 'gqw'])
    assert.equal(syllablesOf(name), null, name)
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
      assert.equal(syllablesOf(one), /[\d-]/.test(one) || count === 0 ? null : count)
    }),
    { numRuns: 2_000 },
  )
})

const SYMBOLS = { C: 'bcdfghjklmnñpqrstvwxyz', V: 'aeiouáéíóúü', N: '0123456789', H: '-' }

test('a shape has a letter per character', () => {
  assert.equal(shapeOf('ñandú-2y'), 'CVCCVHNC')
  for (const [letter, characters] of Object.entries(SYMBOLS))
    assert.equal(shapeOf(characters), letter.repeat(characters.length))
})

const RUN_OF = { C: '[^aeiouáéíóúü0-9-]', V: '[aeiouáéíóúü]', N: '[0-9]', H: '-', L: '[a-zñáéíóúü]' }

test('a name has the shapes whose letters stand for its characters', () => {
  const shape = fc.string({ unit: fc.constantFrom('C', 'V', 'N', 'H', 'L'), minLength: 1, maxLength: 5 })
  const named = fc.stringMatching(/^[abeñyúü1-]{1,5}$/)
  fc.assert(
    fc.property(shape, named, (wanted, one) => {
      const expression = new RegExp(`^${[...wanted].map((letter) => Object(RUN_OF)[letter]).join('')}$`)
      assert.equal(hasShape(one, wanted), expression.test(one))
      const own = shapeOf(one)
      assert.ok(hasShape(one, own))
      assert.ok(hasShape(one, own.replaceAll(/[CV]/g, 'L')))
    }),
  )
})
