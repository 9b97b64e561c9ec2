/** Filters by the names that the API and the page's address have for them. A flag is there with an empty text. */
export type Filters = Readonly<Record<string, string>>

interface Plain<K extends 'text' | 'flag'> {
  readonly kind: K
  /** What the API calls it. */
  readonly name: string
  /** What people write before the colon, in Spanish and in English; any of them is understood. */
  readonly words: readonly [es: string, en: string]
}

interface Choice {
  readonly kind: 'choice'
  readonly name: string
  readonly words: readonly [es: string, en: string]
  /** What people write after the colon, by the API's value. */
  readonly values: Readonly<Record<string, readonly [es: string, en: string]>>
}

const YES_NO: Choice['values'] = { '1': ['sí', 'yes'], '0': ['no', 'no'] }

/** The filters that have words of their own. `search` is what is left over. */
const FIELDS: readonly (Plain<'text'> | Plain<'flag'> | Choice)[] = [
  { kind: 'text', name: 'length', words: ['largo', 'length'] },
  {
    kind: 'choice',
    name: 'status',
    words: ['estado', 'state'],
    values: { '1': ['comprado', 'bought'], '0': ['libre', 'free'] },
  },
  { kind: 'flag', name: 'rev', words: ['es:revisión', 'is:review'] },
  { kind: 'flag', name: 'dis', words: ['es:descartado', 'is:discarded'] },
  { kind: 'flag', name: 'reserve', words: ['es:reservado', 'is:reserved'] },
  { kind: 'flag', name: 'agent', words: ['en:agente', 'in:agent'] },
  { kind: 'text', name: 'min_length', words: ['mínimo', 'min'] },
  { kind: 'text', name: 'max_length', words: ['máximo', 'max'] },
  { kind: 'text', name: 'starts', words: ['empieza', 'starts'] },
  { kind: 'text', name: 'ends', words: ['termina', 'ends'] },
  { kind: 'text', name: 'pattern', words: ['patrón', 'pattern'] },
  { kind: 'text', name: 'from', words: ['desde', 'from'] },
  { kind: 'text', name: 'to', words: ['hasta', 'to'] },
  { kind: 'choice', name: 'hyphen', words: ['guion', 'hyphen'], values: YES_NO },
  { kind: 'choice', name: 'digits', words: ['dígitos', 'digits'], values: YES_NO },
  { kind: 'choice', name: 'idn', words: ['idn', 'idn'], values: YES_NO },
  { kind: 'text', name: 'last_register', words: ['inscritos', 'registered'] },
  { kind: 'text', name: 'last_deleted', words: ['eliminados', 'deleted'] },
  {
    kind: 'choice',
    name: 'sort',
    words: ['orden', 'sort'],
    values: { asc: ['antiguos', 'oldest'], desc: ['nuevos', 'newest'] },
  },
]

export const FILTER_NAMES: readonly string[] = ['search', ...FIELDS.map(({ name }) => name)]
const FLAGS = new Set(FIELDS.filter(({ kind }) => kind === 'flag').map(({ name }) => name))

/** The filters in an address; what else is in it is of no filter. */
export function filtersOf(query: URLSearchParams): Filters {
  const filters: Record<string, string> = {}
  for (const name of FILTER_NAMES) {
    const value = query.get(name)
    // A flag is on by being there, whatever its value.
    if (value !== null) filters[name] = FLAGS.has(name) ? '' : value
  }
  return filters
}

/** An address for filters: the same ones in the same order, however they came about. */
export function queryOf(filters: Filters): URLSearchParams {
  const given = FILTER_NAMES.flatMap((name) => (filters[name] === undefined ? [] : [[name, filters[name]]]))
  return new URLSearchParams(given)
}

/** The filters that the words of the query box stand for. Words that are not understood are looked for as text. */
export function parseWords(text: string): Filters {
  const filters: Record<string, string> = {}
  const rest: string[] = []
  for (const word of text.split(/\s+/).filter((one) => one !== '')) {
    const read = readWord(word)
    if (read === undefined) rest.push(word)
    else filters[read.name] = read.value
  }
  const search = rest.join(' ')
  if (search !== '') filters['search'] = search
  // The API takes this one with something to look for only.
  if (search === '') delete filters['agent']
  return filters
}

function readWord(word: string): { name: string; value: string } | undefined {
  const folded = fold(word)
  const colon = folded.indexOf(':')
  if (colon < 1) return undefined
  for (const field of FIELDS) {
    if (field.kind === 'flag') {
      if (field.words.some((one) => fold(one) === folded)) return { name: field.name, value: '' }
      continue
    }
    if (!field.words.some((one) => fold(one) === folded.slice(0, colon))) continue
    const value = word.slice(colon + 1)
    if (value === '') return undefined
    if (field.kind === 'text') return { name: field.name, value }
    const found = Object.entries(field.values).find(([, words]) =>
      words.some((one) => fold(one) === fold(value)),
    )
    // The API says best what it takes.
    return { name: field.name, value: found?.[0] ?? value }
  }
  return undefined
}

/** The words for filters: what `parseWords` reads back. */
export function formatWords(filters: Filters, language: 'es' | 'en'): string {
  const at = language === 'es' ? 0 : 1
  const words = FIELDS.flatMap((field) => {
    const value = filters[field.name]
    if (value === undefined) return []
    if (field.kind === 'flag') return [field.words[at]]
    const said = field.kind === 'choice' ? (field.values[value]?.[at] ?? value) : value
    return [`${field.words[at]}:${said}`]
  })
  return [filters['search'] ?? '', ...words].filter((one) => one !== '').join(' ')
}

/** The filters with some set, or taken out (undefined). */
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

/** What picks the newest, and the order: no watch, count or stream of events knows them. */
const OF_LISTS = new Set(['sort', 'last_register', 'last_deleted'])

/** The filters that look at a record by itself. */
export function recordFilters(filters: Filters): Filters {
  return Object.fromEntries(Object.entries(filters).filter(([name]) => !OF_LISTS.has(name)))
}

/** A `curl` line for a shell: in single quotes nothing has a meaning but the quote itself. */
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

/** Lower-case and without accents, so that a word is understood as people type it. */
const fold = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
