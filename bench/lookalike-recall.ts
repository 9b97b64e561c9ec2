// Measures recall and precision of the search for phishing names of a brand. The data are real registrations, those
// that contain the brand labelled by hand, and planted names: a permutation as dnstwist makes them, or the brand or a
// permutation with a word. Compares with common methods: edit distance of two, names that contain the brand, and
// permutations of it.
import { readFileSync } from 'node:fs'
import { distance } from 'fastest-levenshtein'
import { readVocabulary } from '../src/domainwatch/lookalikes/vocabulary.ts'
import { Matcher } from '../src/lib/lookalikes/index.ts'
import { variants } from '../test/support/similar-variants.ts'
import { recordsOf } from './lib/names.ts'

interface Labels {
  /** By brand: real registrations that contain it, or are one typo away from it. */
  readonly [brand: string]: readonly string[]
}
const labelled: Labels = JSON.parse(
  readFileSync(new URL('lib/lookalikes-labelled.json', import.meta.url), 'utf8'),
)
const brands = Object.keys(labelled)
/** Combined with the brand and its planted permutations. Half of them are not built-in keywords. */
const WORDS = ['login', 'pago', 'clientes', 'verano', 'chilena', 'retiros']
/** One of this many permutations of a brand is planted. */
const STEP = 17
const REAL = 109_000
/** A permutation changes a single letter. */
const ONE = 1

const real = recordsOf(REAL).map(({ domain }) => domain)
const vocabulary = readVocabulary()

type Finder = (brand: string) => (name: string) => boolean
const finders: readonly (readonly [string, Finder])[] = [
  ['Catalejo', ours],
  [
    'names within an edit distance of 2 (`fastest-levenshtein`)',
    (brand) => (name) => distance(brand, name) <= 2,
  ],
  ['names that contain the brand', (brand) => (name) => name.replaceAll('-', '').includes(brand)],
  [
    'permutations of the brand (as dnstwist makes them)',
    (brand) => {
      const all = new Set(variants(brand))
      return (name) => all.has(name)
    },
  ],
]

const planted = new Map(brands.map((brand) => [brand, plantedOf(brand)]))
console.log(`\n${brands.length} brands among ${real.length.toLocaleString('en')} names\n`)
console.log(
  '| | alone | with a word, exact | with a word, misspelt | labelled real names | precision (labelled or planted of all found) |',
)
console.log('|---|---|---|---|---|---|')
for (const [title, finder] of finders) {
  const totals = { alone: [0, 0], whole: [0, 0], misspelt: [0, 0], labelled: [0, 0] }
  let wanted = 0
  let found = 0
  for (const brand of brands) {
    const isFound = finder(brand)
    const sets = { ...planted.get(brand), labelled: labelled[brand] ?? [] }
    const right = new Set<string>()
    for (const [kind, names] of Object.entries(sets)) {
      const total = totals[kind as keyof typeof totals]
      for (const name of names) {
        const hit = isFound(name)
        total[0] = (total[0] ?? 0) + Number(hit)
        total[1] = (total[1] ?? 0) + 1
        if (hit) right.add(name)
      }
    }
    wanted += right.size
    found += right.size + real.filter((name) => name !== brand && !right.has(name) && isFound(name)).length
  }
  const cells = [totals.alone, totals.whole, totals.misspelt, totals.labelled, [wanted, found]].map(
    ([part = 0, all = 0]) => `${((100 * part) / all).toFixed(1)} % of ${all}`,
  )
  console.log(`| ${title} | ${cells.join(' | ')} |`)
}

function ours(brand: string): (name: string) => boolean {
  const matcher = new Matcher(brand, vocabulary)
  return (name) => matcher.resembles(name)
}

function plantedOf(brand: string) {
  const permutations = [...variants(brand)].filter(
    (name) =>
      name !== brand &&
      Math.abs(name.length - brand.length) <= ONE &&
      distance(name, brand) <= 2 * ONE &&
      !name.includes('-'),
  )
  const alone = permutations.filter((_, i) => i % STEP === 0)
  const withWords = (name: string) =>
    WORDS.flatMap((word) => [`${name}-${word}`, `${word}-${name}`, `${name}${word}`, `${word}${name}`])
  return { alone, whole: withWords(brand), misspelt: alone.flatMap(withWords) }
}
