// How many phishing names a search for a brand finds, and how much else: planted ones, made of one permutation as dnstwist makes
// them and a word beside it, among real registrations, of which those that hold the brand are labelled by hand. Beside it what
// others do: names within two letters, names that contain the brand, and names that are a permutation of it.
import { readFileSync } from 'node:fs'
import { distance } from 'fastest-levenshtein'
import { readVocabulary } from '../src/domainwatch/lookalikes/vocabulary.ts'
import { Matcher } from '../src/lib/lookalikes/index.ts'
import { variants } from '../test/support/similar-variants.ts'
import { recordsOf } from './lib/names.ts'

interface Labels {
  /** By brand: real registrations that hold it, or are a slip away from it. */
  readonly [brand: string]: readonly string[]
}
const labelled: Labels = JSON.parse(
  readFileSync(new URL('lib/lookalikes-labelled.json', import.meta.url), 'utf8'),
)
const brands = Object.keys(labelled)
/** Beside the planted permutations. Half of them are no built-in keyword. */
const WORDS = ['login', 'pago', 'clientes', 'verano', 'chilena', 'retiros']
/** Every so many permutations of a brand are planted. */
const STEP = 17
const REAL = 109_000
/** Changes that a single letter makes: what a permutation is. */
const ONE = 1

const real = recordsOf(REAL).map(({ domain }) => domain)
const vocabulary = readVocabulary()

type Finder = (brand: string) => (name: string) => boolean
const finders: readonly (readonly [string, Finder])[] = [
  ['Catalejo', ours],
  ['names within two letters (`fastest-levenshtein`)', (brand) => (name) => distance(brand, name) <= 2],
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
  '| | alone | beside a word, whole | beside a word, misspelt | labelled real names | of what is found, labelled or planted |',
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
  const beside = (name: string) =>
    WORDS.flatMap((word) => [`${name}-${word}`, `${word}-${name}`, `${name}${word}`, `${word}${name}`])
  return { alone, whole: beside(brand), misspelt: alone.flatMap(beside) }
}
