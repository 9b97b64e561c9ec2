import { readDictionary } from '../../src/domainwatch/words.ts'
import fc from 'fast-check'
import { parseLabel, toShape } from '../../src/lib/domain-names.ts'
import { filterParameters, type FilterName } from '../../src/domainwatch/filters.ts'
import { RuleSet } from '../../src/domainwatch/rules/index.ts'
import type { Parameter } from '../../src/http/parameters.ts'

/** Few letters and few dates, so that most texts are in some names and many dates tie. */
const part = fc.stringMatching(/^[ab1ñé-]{1,3}$/)

const name = fc
  .oneof(
    { weight: 3, arbitrary: fc.stringMatching(/^[abñ1-]{1,6}$/) },
    { weight: 1, arbitrary: fc.stringMatching(/^(bab-?|n|ñ){1,2}(e?s)?$/) },
    { weight: 1, arbitrary: fc.stringMatching(/^[a-z0-9áéíóúüñ-]{1,40}$/) },
  )
  .filter((text) => parseLabel(text).ok)

const date = fc.constantFrom(
  '2025-01-01 00:00:00',
  '2025-01-01 23:59:59',
  '2025-01-02 00:00:00',
  '2025-01-02 12:30:00',
  '2025-01-03 00:00:00',
  '2025-06-10 12:00:00',
  '2024-02-29 12:30:00',
)

export const newRecord = fc.record({
  domain: name,
  reserve: fc.constantFrom(0, 1),
  status: fc.constantFrom(0, 1),
  date_reg: date,
  agent: fc.option(fc.constantFrom('Águila', 'aña', 'b1'), { nil: undefined }),
})
export type NewRecord = typeof newRecord extends fc.Arbitrary<infer T> ? T : never

const bit = fc.constantFrom(0, 1)

export const mark = fc.record(
  {
    domain: name,
    revision: bit,
    discarded: bit,
    reserve: bit,
    status: bit,
    agent: fc.constantFrom('Águila', 'c'),
    seen: bit,
    tags: fc.subarray(['casa', 'a', 'ñandú', 'b-1']),
  },
  { requiredKeys: ['domain'] },
)
export type Mark = typeof mark extends fc.Arbitrary<infer T> ? T : never

/** When something is written. */
export const writingDate = fc.constantFrom(
  '2025-06-01 08:00:00',
  '2025-06-01 23:59:59',
  '2025-06-02 09:10:11',
  '2025-06-03 00:00:00',
)

const glob = fc.stringMatching(/^[ab1ñ?*-]{1,7}$/)
const text = fc.oneof(
  { weight: 6, arbitrary: part },
  { weight: 1, arbitrary: name.map((of) => (parseLabel(of) as { ascii: string }).ascii) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'xn--',
      'xn--a',
      'Ñ',
      ' A.CL',
      '.cl',
      '%',
      '_',
      '[',
      ']',
      '\\',
      '*',
      '?',
      '\0',
    ),
  },
)
const words = fc
  .array(fc.oneof(fc.stringMatching(/^[ab1ñ-]{1,2}$/), fc.constantFrom('xn--', '', '.cl', 'A.CL')), {
    minLength: 2,
    maxLength: 4,
  })
  .map((all) => all.join(' '))
const length = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 8 }) },
  { weight: 1, arbitrary: fc.integer({ min: 20, max: 40 }) },
)
const dateOrDay = fc.oneof(date, writingDate).chain((of) => fc.constantFrom(of, of.slice(0, 10)))

/** Words of the letters of the names here. */
const OWN_WORDS = ['a', 'b', 'ab', 'ñb', 'bab', 'abab']
export const dictionary = readDictionary(OWN_WORDS)

const listOf = (...all: readonly string[]) =>
  fc.subarray([...all], { minLength: 1 }).map((some) => some.join(','))

const special: Readonly<Record<string, fc.Arbitrary<string>>> = {
  search: fc.oneof({ weight: 2, arbitrary: text }, { weight: 1, arbitrary: words }),
  tag: fc.constantFrom('casa', ' Casa', 'a', 'Ñandú', 'b-1', 'b', 'cas'),
  word: fc.constantFrom('a', 'ab', 'B', 'ñb', 'ñ', 'ba'),
  not: fc.oneof(text, words),
  not_word: listOf('a', 'ab', 'B', 'ñb', ' bab ', 'ba'),
  not_tag: listOf('casa', ' Casa', 'a', 'Ñandú', 'b-1', 'cas'),
  not_agent: listOf('b1', 'ÁGUILA', ' aña', 'grupo', 'águ', 'c'),
  shape: fc.oneof(
    name.map((of) => toShape(of).replace('C', 'L').replace('V', 'v')),
    fc.stringMatching(/^[CVNHL]{1,3}$/),
  ),
  syllables: fc.integer({ min: 1, max: 4 }).map(String),
  max_syllables: fc.integer({ min: 1, max: 4 }).map(String),
  words: fc.integer({ min: 1, max: 6 }).map(String),
  demand_min: fc.integer({ min: 1, max: 4 }).map(String),
  drops_min: fc.integer({ min: 1, max: 4 }).map(String),
  age_min: fc.constantFrom('1', '2'),
  numbers: fc.constantFrom(
    'num_alto_min=1.5',
    'num_bajo_max=6&num_alto_max=0',
    'num_bajo_min=0',
    'num_otro_min=0',
  ),
  pattern: fc.oneof(glob, text),
  agent: fc.constantFrom('b1', 'ág', 'AÑA', 'gru'),
}

/** Values that the schema of a parameter allows. */
function valueFor(name: string, { schema }: Parameter<unknown>): fc.Arbitrary<string> {
  const own = special[name]
  if (own !== undefined) return own
  const { type, minimum, maximum, pattern } = schema
  if (schema['x-flag'] !== undefined) return fc.constant('')
  if (type === 'integer' && typeof minimum === 'number' && typeof maximum === 'number')
    return (maximum > 1 ? length : bit).filter((value) => value >= minimum && value <= maximum).map(String)
  if (type === 'string') return pattern === undefined ? text : dateOrDay
  throw new Error(`no random values for ${name}: ${JSON.stringify(schema)}`)
}

const values = Object.fromEntries(
  Object.entries(filterParameters).map(([name, parameter]) => [name, valueFor(name, parameter)]),
)

/** Some filters with their values, most of them not given. */
const someFilters = fc
  .record(values, { requiredKeys: [] })
  .chain((all) => fc.subarray(Object.entries(all), { maxLength: Math.min(3, Object.keys(all).length) }))

/** The filters of a request, with a certain one among them. */
export const filtersWith = (name: FilterName): fc.Arbitrary<Record<string, string>> =>
  fc.tuple(someFilters, valueFor(name, filterParameters[name])).map(([others, value]) => {
    // It would turn a search for texts into one for agents.
    const compatible = others.filter(([other]) => other !== 'agent')
    return requestWith([...compatible, [name, value]])
  })

function requestWith(given: readonly (readonly [string, string | undefined])[]): Record<string, string> {
  const request: Record<string, string> = {}
  for (const [name, value] of given) {
    if (name === 'numbers') Object.assign(request, Object.fromEntries(new URLSearchParams(value)))
    else request[name === 'agent' ? 'search' : name] = value ?? ''
    if (name === 'agent') request[name] = ''
  }
  return request
}

/** The numbers that are imported for some of the names, before any of them is recorded. */
export const NUMBERS: readonly (readonly [name: string, key: string, number: number])[] = [
  ['a', 'alto', 1.5],
  ['ab', 'alto', -2],
  ['ab', 'bajo', 0],
  ['b', 'bajo', 7],
  ['ba', 'alto', 3],
  ['ba', 'bajo', 7],
]

/** The filters of rules that hide some records, of several kinds of conditions. */
const HIDING = [{ starts: 'a1' }, { tag: 'casa', reserve: '' }, { not: 'b', revision: '1' }, { word: 'ab' }]
export const rules = new RuleSet(
  1,
  HIDING.map((filters) => ({ tag: null, filters: JSON.stringify(filters) })),
)
