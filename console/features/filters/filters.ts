import type { Operations } from '../../../clients/js/schema.ts'
import {
  LIST_ORDERS,
  MAX_AGE,
  MAX_DEMAND,
  MAX_DROPS,
  MAX_LABEL_CHARACTERS,
  MAX_PAGE_RECORDS,
  MAX_WORDS,
  NOT_IN_RULES,
} from '../../base/constants.ts'
import { labelParameter } from '../../base/parameter-labels.ts'
import type { TextKey } from '../../i18n/index.ts'

/** Filters by their names in the API and in the URL. A set flag has an empty text. */
export type Filters = Readonly<Record<string, string>>

type Words = readonly [es: string, en: string]

/** How the console shows one filter of the API. */
export interface FilterField {
  /**
   * The words before the colon, in Spanish and in English; both are always understood. A flag is a word without a
   * colon.
   */
  readonly words?: Words
  /** The words after the colon, by the API's value. */
  readonly values?: Readonly<Record<string, Words>>
  /** Its name in forms and messages. */
  readonly label?: TextKey
  /** What it means, in a sentence next to its control. */
  readonly help?: TextKey | undefined
  /** Its control in the filter form; filters without one have a control elsewhere. */
  readonly control?: 'text' | 'number' | 'date' | 'yes-no'
  /** The values that the API accepts. */
  readonly accepts: Accepted
}

type Accepted =
  | { readonly kind: 'text' | 'date' | 'flag' | 'decimal' }
  | { readonly kind: 'number'; readonly min: number; readonly max: number }
  | { readonly kind: 'choice'; readonly values: readonly string[]; readonly also?: RegExp }

const TEXT: Accepted = { kind: 'text' }
const DATE: Accepted = { kind: 'date' }
const FLAG: Accepted = { kind: 'flag' }
const LENGTH: Accepted = { kind: 'number', min: 1, max: MAX_LABEL_CHARACTERS }
const NEWEST: Accepted = { kind: 'number', min: 1, max: MAX_PAGE_RECORDS }
const WORDS: Accepted = { kind: 'number', min: 1, max: MAX_WORDS }
const BIT: Accepted = { kind: 'choice', values: ['0', '1'] }
const YES_NO = { '1': ['sí', 'yes'], '0': ['no', 'no'] } as const

const date = (words: Words, label: TextKey): FilterField => ({ words, label, control: 'date', accepts: DATE })
const yesNo = (words: Words, label: TextKey, help?: TextKey): FilterField => ({
  words,
  values: YES_NO,
  label,
  help,
  control: 'yes-no',
  accepts: BIT,
})
const text = (words: Words, label: TextKey, help?: TextKey): FilterField => {
  return { words, label, help, control: 'text', accepts: TEXT }
}
const number = (words: Words, label: TextKey, accepts: Accepted, help?: TextKey): FilterField => {
  return { words, label, help, control: 'number', accepts }
}

type ListQuery = Operations['GET /api/v1/domainwatch/list']['query']
type FilterName = Exclude<keyof ListQuery, 'limit' | 'cursor' | 'fields'>

/** All filters of the API, in its order: a missing one does not compile. `search` is text without a word. */
const FIELDS: Readonly<Record<FilterName, FilterField>> = {
  search: { label: 'domains.search', accepts: TEXT },
  agent: { words: ['en:agente', 'in:agent'], accepts: FLAG },
  starts: text(['empieza', 'starts'], 'filter.starts'),
  ends: text(['termina', 'ends'], 'filter.ends'),
  pattern: text(['patrón', 'pattern'], 'filter.pattern'),
  length: number(['largo', 'length'], 'domains.length', LENGTH),
  min_length: number(['mínimo', 'min'], 'filter.min', LENGTH),
  max_length: number(['máximo', 'max'], 'filter.max', LENGTH),
  from: date(['desde', 'from'], 'filter.from'),
  to: date(['hasta', 'to'], 'filter.to'),
  modified_from: date(['cambiado-desde', 'changed-from'], 'filter.modifiedFrom'),
  modified_to: date(['cambiado-hasta', 'changed-to'], 'filter.modifiedTo'),
  deleted_from: date(['eliminado-desde', 'deleted-from'], 'filter.deletedFrom'),
  deleted_to: date(['eliminado-hasta', 'deleted-to'], 'filter.deletedTo'),
  status_from: date(['novedad-desde', 'news-from'], 'filter.statusFrom'),
  hyphen: yesNo(['guion', 'hyphen'], 'filter.hyphen'),
  digits: yesNo(['dígitos', 'digits'], 'filter.digits'),
  idn: yesNo(['idn', 'idn'], 'filter.idn'),
  status: {
    words: ['estado', 'state'],
    values: { '1': ['inscrito', 'registered'], '0': ['libre', 'free'] },
    accepts: BIT,
  },
  reserve: { words: ['es:reservado', 'is:reserved'], accepts: FLAG },
  rev: { words: ['es:revisión', 'is:review'], accepts: FLAG },
  dis: { words: ['es:descartado', 'is:discarded'], accepts: FLAG },
  reserved: yesNo(['reservado', 'reserved'], 'domains.reserved'),
  revision: yesNo(['revisión', 'review'], 'domains.review'),
  discarded: yesNo(['descartado', 'discarded'], 'domains.discarded'),
  seen: yesNo(['visto', 'seen'], 'domains.isSeen'),
  tag: text(['etiqueta', 'tag'], 'filter.tag'),
  words: number(['palabras', 'words'], 'filter.words', WORDS),
  word: text(['palabra', 'word'], 'filter.word'),
  not: text(['sin', 'without'], 'filter.not'),
  not_word: text(['sin-palabra', 'without-word'], 'filter.notWord'),
  not_tag: text(['sin-etiqueta', 'without-tag'], 'filter.notTag'),
  not_agent: text(['sin-agente', 'without-agent'], 'filter.notAgent'),
  shape: text(['forma', 'shape'], 'filter.shape', 'help.shape'),
  syllables: number(['sílabas', 'syllables'], 'filter.syllables', LENGTH, 'help.syllables'),
  max_syllables: number(['máximo-sílabas', 'max-syllables'], 'filter.maxSyllables', LENGTH),
  demand_min: number(
    ['demanda', 'demand'],
    'filter.demandMin',
    { kind: 'number', min: 1, max: MAX_DEMAND },
    'help.demand',
  ),
  twin: yesNo(['gemelo', 'twin'], 'filter.twin', 'help.twin'),
  drops_min: number(
    ['veces-libre', 'drops'],
    'filter.dropsMin',
    { kind: 'number', min: 1, max: MAX_DROPS },
    'help.drops',
  ),
  age_min: number(['años', 'years'], 'filter.ageMin', { kind: 'number', min: 1, max: MAX_AGE }, 'help.age'),
  objection: yesNo(['objeción', 'objection'], 'filter.objection', 'help.objection'),
  // A template: the key of the numbers is a part of the word.
  numbers: {
    words: ['num-clave-mínimo', 'num-key-min'],
    label: 'filter.numbers',
    accepts: { kind: 'decimal' },
  },
  hidden: yesNo(['oculto', 'hidden'], 'filter.hidden'),
  ns: text(['ns', 'ns'], 'filter.ns'),
  mx: text(['mx', 'mx'], 'filter.mx'),
  ip: text(['ip', 'ip'], 'filter.ip'),
  last_register: number(['inscritos', 'registered'], 'filter.lastRegister', NEWEST),
  last_deleted: number(['eliminados', 'deleted'], 'filter.lastDeleted', NEWEST),
  order: {
    words: ['ordenar', 'order'],
    values: {
      registered: ['inscripción', 'registered'],
      deleted: ['eliminación', 'deleted'],
      modified: ['cambio', 'changed'],
      name: ['nombre', 'name'],
      length: ['largo', 'length'],
      objection: ['objeción', 'objection'],
      interest: ['interés', 'interest'],
    },
    accepts: { kind: 'choice', values: LIST_ORDERS, also: /^num_[a-z]{1,20}$/ },
  },
  sort: {
    words: ['orden', 'sort'],
    values: { asc: ['antiguos', 'oldest'], desc: ['nuevos', 'newest'] },
    accepts: { kind: 'choice', values: ['asc', 'desc'] },
  },
}

/** The filters with words, in the order in which words are written: the frequent ones first. */
const FREQUENT = ['length', 'status', 'rev', 'dis', 'reserve', 'agent', 'min_length', 'max_length']
const WORDED = Object.entries(FIELDS)
  .flatMap(([name, field]) => (field.words === undefined ? [] : [{ ...field, name, words: field.words }]))
  .toSorted((one, other) => getRank(one.name) - getRank(other.name))

function getRank(name: string): number {
  return FREQUENT.includes(name) ? FREQUENT.indexOf(name) : FREQUENT.length
}

export const FILTER_NAMES: readonly string[] = ['search', ...WORDED.map(({ name }) => name)]

/** In the order of the API. */
export const FILTER_FIELDS: readonly (readonly [name: string, field: FilterField])[] = Object.entries(FIELDS)
const fieldsByName = new Map(FILTER_FIELDS)
for (const [name, { label }] of FILTER_FIELDS) if (label !== undefined) labelParameter(name, label)
export const filterField = (name: string): FilterField | undefined =>
  fieldsByName.get(isOfNumbers(name) ? 'numbers' : name)

/** Filters of imported numbers, whose keys are parts of their names and words: `num-volumen-mínimo:10`. */
const isOfNumbers = (name: string) => /^num_[a-z]{1,20}_(min|max)$/.test(name)
const NUMBER_ENDS = { min: ['mínimo', 'min'], max: ['máximo', 'max'] } as const

/** Returns the filter of the word before a colon; undefined if it is not one of imported numbers. */
function readNumberWord(folded: string): string | undefined {
  const [, key, given = ''] = /^num-([a-z]{1,20})-([a-z]+)$/.exec(folded) ?? []
  const end = (['min', 'max'] as const).find((one) => NUMBER_ENDS[one].some((word) => fold(word) === given))
  return key === undefined || end === undefined ? undefined : `num_${key}_${end}`
}

function formatNumberWord(name: string, value: string, at: 0 | 1): string {
  const [, key, end] = name.split('_')
  return `num-${key}-${NUMBER_ENDS[end === 'min' ? 'min' : 'max'][at]}:${value}`
}

const isFlag = (name: string) => filterField(name)?.accepts.kind === 'flag'

/** Returns the filters in a URL; other parameters are ignored. */
export function toFilters(query: URLSearchParams): Filters {
  const filters: Record<string, string> = {}
  for (const name of FILTER_NAMES) {
    const value = query.get(name)
    // A flag is on if present, whatever its value.
    if (value !== null) filters[name] = isFlag(name) ? '' : value
  }
  for (const [name, value] of query) if (isOfNumbers(name)) filters[name] = value
  return filters
}

/** Returns the URL query of filters, in a fixed order. */
export function queryOf(filters: Filters): URLSearchParams {
  const names = [...FILTER_NAMES, ...Object.keys(filters).filter(isOfNumbers).toSorted()]
  const given = names.flatMap((name) => (filters[name] === undefined ? [] : [[name, filters[name]]]))
  return new URLSearchParams(given)
}

/** A word of the query box, with its position. */
export interface Token {
  readonly text: string
  readonly start: number
  readonly end: number
  /** Its filter; undefined for search text and for unknown words. */
  readonly name: string | undefined
  readonly value: string
}

export function tokensOf(text: string): Token[] {
  return Array.from(text.matchAll(/\S+/g), ({ 0: word, index }) => {
    const { name, value } = readWord(word) ?? { name: undefined, value: '' }
    return { text: word, start: index, end: index + word.length, name, value }
  })
}

/** Returns the filters of the words in the query box. Unknown words are search text. */
export function parseWords(text: string): Filters {
  const filters: Record<string, string> = {}
  const rest: string[] = []
  for (const { text: word, name, value } of tokensOf(text)) {
    if (name === undefined) rest.push(word)
    // A filter without a value yet has no effect.
    else if (value !== '' || isFlag(name)) filters[name] = value
  }
  // An agent may have any name; domain names have no colon.
  const looked =
    filters['agent'] === undefined ? rest.filter((word) => !isUnknownFilter(word)).map(bareWord) : rest
  const search = looked.join(' ')
  if (search !== '') filters['search'] = search
  // The API accepts this one only with a search text.
  if (search === '') delete filters['agent']
  return filters
}

/** Whether a word looks like a filter but is not one. */
export const isUnknownFilter = (word: string): boolean => /^[\p{L}-]+:(?!\/\/)/u.test(word)

/** Returns a word without the suffix; `.cl` alone is unchanged. */
const bareWord = (word: string): string => {
  const isAddress = /^(?:https?:\/\/|www\.)|\.cl\.?(?:\/|$)/i.test(word)
  return (isAddress ? bareName(word) : '') || word
}

function readWord(word: string): { name: string; value: string } | undefined {
  const folded = fold(word)
  const colon = folded.indexOf(':')
  if (colon < 1) return undefined
  const ofNumbers = readNumberWord(folded.slice(0, colon))
  if (ofNumbers !== undefined) return { name: ofNumbers, value: word.slice(colon + 1) }
  for (const field of WORDED) {
    if (field.accepts.kind === 'flag') {
      if (field.words.some((one) => fold(one) === folded)) return { name: field.name, value: '' }
      continue
    }
    if (!field.words.some((one) => fold(one) === folded.slice(0, colon))) continue
    const value = word.slice(colon + 1)
    if (field.accepts.kind === 'date') return { name: field.name, value: value.replace(/t/i, ' ') }
    if (field.accepts.kind === 'text') return { name: field.name, value: value.replaceAll('+', ' ') }
    if (field.values === undefined) return { name: field.name, value }
    const found = Object.entries(field.values).find(([, words]) =>
      words.some((one) => fold(one) === fold(value)),
    )
    // The API explains best what it accepts.
    return { name: field.name, value: found?.[0] ?? value }
  }
  return undefined
}

/** Returns the words for filters; reverses `parseWords`. */
export function formatWords(filters: Filters, language: 'es' | 'en'): string {
  const at = language === 'es' ? 0 : 1
  const words = WORDED.flatMap((field) => {
    const value = filters[field.name]
    if (value === undefined) return []
    if (field.accepts.kind === 'flag') return [field.words[at]]
    // A space would end the word.
    const written = value.replaceAll(' ', field.accepts.kind === 'date' ? 'T' : '+')
    const said = field.values?.[value]?.[at] ?? written
    return [`${field.words[at]}:${said}`]
  })
  const numbers = Object.entries(filters)
    .filter(([name]) => isOfNumbers(name))
    .map(([name, value]) => formatNumberWord(name, value, at))
  return [filters['search'] ?? '', ...words, ...numbers].filter((one) => one !== '').join(' ')
}

/** Returns the filters with some set, or removed (undefined). */
export function withFilters(
  filters: Filters,
  changes: Readonly<Record<string, string | undefined>>,
): Filters {
  const next: Record<string, string> = {}
  for (const [name, value] of Object.entries({ ...filters, ...changes })) {
    if (value !== undefined) next[name] = value
  }
  if (next['search'] === undefined) delete next['agent']
  return next
}

/** Filters that select the newest, and the order: watches, counts and event streams do not accept them. */
const OF_LISTS = new Set(['order', 'sort', 'last_register', 'last_deleted'])

const without = (filters: Filters, names: ReadonlySet<string>): Filters =>
  Object.fromEntries(Object.entries(filters).filter(([name]) => !names.has(name)))

/** Returns the filters that apply to single records. */
export const recordFilters = (filters: Filters): Filters => without(filters, OF_LISTS)

/** Records do not contain what the DNS says, so their changes cannot be filtered by it. */
const OF_SERVERS = new Set(['ns', 'mx', 'ip'])

/** Returns the filters that apply to changes of records: those of events and watches. */
export const eventFilters = (filters: Filters): Filters => without(recordFilters(filters), OF_SERVERS)

const OUTSIDE_RULES = new Set<string>(NOT_IN_RULES)

/** Returns the filters that rules take. */
export const ruleFilters = (filters: Filters): Filters => without(eventFilters(filters), OUTSIDE_RULES)

/** Returns a `curl` line for a shell: in single quotes only the quote itself is special. */
export function curlLine(address: URL): string {
  const shown = new URL(address)
  shown.searchParams.delete('api')
  const query = shown.searchParams.toString()
  const quoted = `${shown.origin}${shown.pathname}?${query}${query === '' ? '' : '&'}`.replaceAll(
    "'",
    `'\\''`,
  )
  return `curl '${quoted}api='"$CATALEJO_KEY"`
}

/** Folds a word to lower case without accents. */
export const fold = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()

/** Returns the name in a pasted text: without scheme, `www.`, path and `.cl`. */
export function bareName(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/^www\./, '')
    .replace(/[/?#].*$/, '')
    .replace(/\.cl\.?$/, '')
}
