// Measures recall and precision of the search for phishing names of a brand. The data are real registrations, those
// that contain the brand labelled by hand, and planted names: a permutation as dnstwist makes them, or the brand or a
// permutation with a word. Compares with common methods: edit distance of two, names that contain the brand, and
// permutations of it.
import { readFileSync } from 'node:fs'
import { distance } from 'fastest-levenshtein'
import { readVocabulary } from '../src/domainwatch/words.ts'
import { BestMatches, Matcher, MAX_DISTANCE } from '../src/lib/lookalikes/index.ts'
import { variants } from '../test/support/similar-variants.ts'
import { toRecords } from './lib/names.ts'

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

const real = toRecords(REAL).map(({ domain }) => domain)
const vocabulary = readVocabulary()

type Finder = (brand: string) => (name: string) => boolean
const finders: readonly (readonly [string, Finder])[] = [
  ['Catalejo', (brand) => ours(brand)],
  [`Catalejo with \`max_distance=${MAX_DISTANCE}\``, (brand) => ours(brand, MAX_DISTANCE)],
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

const planted = new Map(brands.map((brand) => [brand, getPlanted(brand)]))
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

// Brands of 3 and 4 letters: real registrations labelled by hand, and the first results of each.
const FIRST = 20
const short: Readonly<Record<string, { readonly related: string }>> = JSON.parse(
  readFileSync(new URL('../test/fixtures/short-brands.json', import.meta.url), 'utf8'),
)
console.log(`\n${Object.keys(short).length} short brands\n`)
console.log(`| | right, of the first ${FIRST} | found, of those labelled |`)
console.log('|---|---|---|')
const shortFinders: readonly (readonly [string, (brand: string) => readonly string[]])[] = [
  ['Catalejo', getBest],
  [
    'names that contain the brand, or within an edit distance of 1',
    (brand) =>
      real
        .filter((name) => name !== brand)
        .filter((name) => name.replaceAll('-', '').includes(brand) || distance(brand, name) <= 1)
        .toSorted((a, b) => distance(brand, a) - distance(brand, b)),
  ],
]
for (const [title, find] of shortFinders) {
  const [first, all] = [
    [0, 0],
    [0, 0],
  ]
  for (const [brand, { related }] of Object.entries(short)) {
    const wanted = new Set(related.split(' '))
    const found = find(brand)
    const right = (names: readonly string[]) => names.filter((name) => wanted.has(name)).length
    first[0] = (first[0] ?? 0) + right(found.slice(0, FIRST))
    first[1] = (first[1] ?? 0) + Math.min(FIRST, found.length)
    all[0] = (all[0] ?? 0) + right(found)
    all[1] = (all[1] ?? 0) + wanted.size
  }
  const cells = [first, all].map(
    ([part = 0, whole = 0]) => `${((100 * part) / whole).toFixed(1)} % of ${whole}`,
  )
  console.log(`| ${title} | ${cells.join(' | ')} |`)
}

function ours(brand: string, maxDistance?: number): (name: string) => boolean {
  const matcher = new Matcher(brand, vocabulary, maxDistance)
  return (name) => matcher.resembles(name)
}

function getBest(brand: string): readonly string[] {
  const starts = new Uint32Array(real.length + 1)
  for (const [i, name] of real.entries()) starts[i + 1] = (starts[i] ?? 0) + name.length
  const block = { names: Buffer.from(real.join(''), 'latin1'), starts, count: real.length }
  const best = new BestMatches<typeof block>(real.length)
  new Matcher(brand, vocabulary).scan(block, 0, best.add, () => false)
  return best.result().map(({ name }) => name)
}

function getPlanted(brand: string) {
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
