import { isCalendarDateTime } from '../lib/dates.ts'
import { toALabel, foldSearch, hasIdnLetter, type SearchText } from '../lib/domain-names.ts'
import type { DateColumn, IndexTerm } from '../lib/name-index/index.ts'
import { hasAtMostCharacters } from '../lib/text.ts'
import { presentFlag, text, type Parameter, integer } from '../http/parameters.ts'
import {
  type FilterContext,
  DATED,
  type FilteredRecord,
  type RecordTrait,
  MAX_TAG_CHARACTERS,
} from './filtered-record.ts'

/** The kinds of filters that the table in `filters.ts` is made of. */
export interface Filter<Given, Wanted> {
  /** Its description, schema and parser; its name is the key in the table. */
  readonly parameter: Parameter<Given>
  /** The normalised value. Undefined if the filter lets every record through. */
  readonly read: (given: Given) => Wanted | undefined
  /** All of them must hold. */
  readonly conditions: (wanted: Wanted) => readonly Condition[]
  /** What the index has to hold of each record for it. */
  readonly trait?: RecordTrait
}

/** A condition on a record, and the same for the index. Without the latter, the index tests record after record. */
export interface Condition {
  readonly matches: (record: FilteredRecord, context: FilterContext) => boolean
  /** What depends on more than the record is decided for each query. */
  readonly index?: IndexTerm | ((context: FilterContext) => IndexTerm) | undefined
}

export const MAX_FILTER_CHARACTERS = 255
const DAY_LENGTH = 'YYYY-MM-DD'.length
const MAX_WORD = 31
const TAKES_WORD = `debe ser una palabra de 1 a ${MAX_WORD} letras`
const TAKES_WORDS = `debe ser una o más palabras de 1 a ${MAX_WORD} letras, separadas por comas`
const TAKES_TAG = `debe ser una etiqueta de 1 a ${MAX_TAG_CHARACTERS} letras, dígitos o guiones`
const TAKES_TAGS = `debe ser una o más etiquetas de 1 a ${MAX_TAG_CHARACTERS} letras, dígitos o guiones, separadas por comas`
const TAKES_AGENTS = `debe ser uno o más agentes separados por comas, en ${MAX_FILTER_CHARACTERS} caracteres como máximo`
const TAKES_DATE_TIME = 'debe ser un día (YYYY-MM-DD) o una fecha y hora (YYYY-MM-DD HH:MM:SS) que existan'

export function filter<T>(parameter: Parameter<T>, condition: (wanted: T) => Condition): Filter<T, T> {
  return { parameter, read: (given) => given, conditions: (wanted) => [condition(wanted)] }
}

export function traitIs(trait: RecordTrait, min: number, max = min): Condition {
  return {
    matches: (record) => trait.of(record) >= min && trait.of(record) <= max,
    index: { kind: 'trait', trait, min, max },
  }
}

interface TraitOptions {
  /** The numbers that can be asked for. */
  readonly min?: number
  readonly max?: number
  /** The smallest and the largest number of a match; by default the one asked for. */
  readonly range?: (wanted: number) => readonly [number, number]
}

/** Filters records by a number that the index holds of them. */
export function traitFilter(
  trait: RecordTrait,
  description: string,
  { min = 0, max = trait.max, range = (wanted) => [wanted, wanted] }: TraitOptions = {},
): Filter<number, number> {
  const condition = (wanted: number) => traitIs(trait, ...range(wanted))
  return { ...filter(integer(description, min, max), condition), trait }
}

export function traitFlag(trait: RecordTrait, description: string): Filter<boolean, boolean> {
  return {
    parameter: presentFlag(description),
    read: (given) => given,
    conditions: (isOn) => (isOn ? [traitIs(trait, 1)] : []),
    trait,
  }
}

export const agentIs = (test: (agent: string) => boolean): Condition => ({
  matches: ({ agent }) => test(agent),
  index: { kind: 'text', of: 'agents', test },
})

/** A condition on the tags, each with a space before and after it; empty if there is none. */
export const tagsAre = (test: (tags: string) => boolean): Condition => ({
  matches: ({ tags }) => test(tags ?? ''),
  index: { kind: 'text', of: 'tagSets', test },
})

export const lengthIs = (min: number, max: number): Condition => ({
  matches: ({ name }) => name.length >= min && name.length <= max,
  index: { kind: 'length', min, max },
})

/** How a name, or its A-label, is compared with a text. */
interface NameComparison {
  readonly matches: (name: string, wanted: string) => boolean
  /** The same as a pattern of `*` and `?`; undefined if no name can match. */
  readonly glob: (wanted: string) => string | undefined
}

export function nameFilter(description: string, compare: NameComparison): Filter<string, SearchText> {
  return {
    parameter: text(description, MAX_FILTER_CHARACTERS),
    read: (given) => {
      const folded = foldSearch(given)
      return folded.text === '' ? undefined : folded
    },
    conditions: (wanted) => [nameCondition(wanted, compare)],
  }
}

export const nameContains = (text: string): Condition => contains({ text })

const CONTAINS: NameComparison = {
  matches: (name, wanted) => name.includes(wanted),
  glob: (wanted) => withoutWildcards(wanted, `*${wanted}*`),
}

/** Compares each word of the text separately, so that each may have a suffix or be an A-label. */
function textsFilter(
  description: string,
  condition: (text: SearchText) => Condition,
): Filter<string, readonly SearchText[]> {
  return {
    parameter: text(description, MAX_FILTER_CHARACTERS),
    read: (given) => {
      const words = new Set(given.split(' ').filter((word) => word !== ''))
      const folded = Array.from(words, foldSearch).filter((word) => word.text !== '')
      return folded.length === 0 ? undefined : folded
    },
    conditions: (words) => words.map(condition),
  }
}

export const searchFilter = (description: string) => textsFilter(description, contains)

/** Filters names that contain none of the texts. */
export const excludedTextsFilter = (description: string) =>
  textsFilter(description, (excluded) => {
    const { matches, index } = contains(excluded)
    return { matches: (record) => !matches(record), index: index && { ...index, kind: 'notName' } }
  })

const contains = (text: SearchText) => nameCondition(text, CONTAINS)

function nameCondition(wanted: SearchText, compare: NameComparison) {
  return {
    matches: ({ name }: FilteredRecord) =>
      compare.matches(name, wanted.text) ||
      (wanted.ascii !== undefined && hasIdnLetter(name) && compare.matches(toALabel(name), wanted.ascii)),
    // The index has no A-labels.
    index:
      wanted.ascii === undefined ? { kind: 'name' as const, glob: compare.glob(wanted.text) } : undefined,
  }
}

const DATE_COLUMNS = {
  registered: 'date_reg',
  modified: 'date_mod',
  deleted: 'deleted_at',
  status: 'status_at',
} as const

export function sinceFilter(of: DateColumn, description: string): Filter<string, string> {
  return dateFilter(of, dateTime(description, '00:00:00'), (wanted) => ({
    matches: (record) => (record[DATE_COLUMNS[of]] ?? '') >= wanted,
    index: { kind: 'date', of, from: wanted },
  }))
}

export function untilFilter(of: DateColumn, description: string): Filter<string, string> {
  return dateFilter(of, dateTime(description, '23:59:59'), (wanted) => ({
    // A record that was never deleted was deleted neither before nor after.
    matches: (record) => {
      const date = record[DATE_COLUMNS[of]]
      return date !== null && date <= wanted
    },
    index: { kind: 'date', of, to: wanted },
  }))
}

/** An unknown registration is neither before nor after any date. */
function dateFilter(
  of: DateColumn,
  parameter: Parameter<string>,
  condition: (wanted: string) => Condition,
): Filter<string, string> {
  if (of !== 'registered') return filter(parameter, condition)
  const conditions = (wanted: string) => [condition(wanted), traitIs(DATED, 1)]
  return { ...filter(parameter, condition), conditions, trait: DATED }
}

/** `*` and `?` in the text are literal, and no name contains them. */
export const withoutWildcards = (wanted: string, glob: string) => (/[*?]/.test(wanted) ? undefined : glob)

/** A date and time, or a day, to which `time` is added. The value is always a date and time. */
function dateTime(description: string, time: string): Parameter<string> {
  return {
    required: false,
    description,
    schema: { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\d( \\d\\d:\\d\\d:\\d\\d)?$' },
    parse: (given) => {
      const value = given.length === DAY_LENGTH ? `${given} ${time}` : given
      return isCalendarDateTime(value) ? { value } : { takes: TAKES_DATE_TIME }
    },
  }
}

/** A text of this form, in lower case as names and tags are stored. */
function lowerCase(description: string, max: number, form: RegExp, takes: string): Parameter<string> {
  return {
    required: false,
    description,
    schema: { type: 'string', minLength: 1, maxLength: max },
    parse: (given) => {
      const value = given.trim().toLowerCase().normalize('NFC')
      return form.test(value) && hasAtMostCharacters(value, max) ? { value } : { takes }
    },
  }
}

export const word = (description: string) => lowerCase(description, MAX_WORD, /^\p{L}+$/u, TAKES_WORD)
export const tag = (description: string) =>
  lowerCase(description, MAX_TAG_CHARACTERS, /^[\p{L}\p{N}-]+$/u, TAKES_TAG)

/** Values separated by commas, each as `item` takes it. */
function list(item: Parameter<string>, takes: string): Parameter<string> {
  return {
    ...item,
    schema: { type: 'string', minLength: 1, maxLength: MAX_FILTER_CHARACTERS },
    parse: (given) => {
      const parsed = given.split(',').map((one) => item.parse(one))
      const values = parsed.flatMap((one) => ('value' in one ? one.value : []))
      const isValid = values.length === parsed.length && hasAtMostCharacters(given, MAX_FILTER_CHARACTERS)
      return isValid ? { value: values.join(',') } : { takes }
    },
  }
}

/** Filters by none of the values of a list separated by commas. */
function excludedFilter(
  parameter: Parameter<string>,
  condition: (excluded: readonly string[]) => Condition,
): Filter<string, readonly string[]> {
  return {
    parameter,
    read: (given) => given.split(','),
    conditions: (excluded) => [condition(excluded)],
  }
}

/** Filters records none of whose words is one of these. */
export const excludedWordsFilter = (description: string) =>
  excludedFilter(list(word(description), TAKES_WORDS), (excluded) => ({
    // Few names contain the text, and words take longer to read.
    matches: (record) =>
      !excluded.some((one) => record.name.includes(one) && record.words?.includes(` ${one} `) === true),
  }))

/** Filters records with none of these tags. */
export const excludedTagsFilter = (description: string) =>
  excludedFilter(list(tag(description), TAKES_TAGS), (excluded) =>
    tagsAre((tags) => !excluded.some((one) => tags.includes(` ${one} `))),
  )

/** Filters records of none of these agents, whose whole names are compared. */
export const excludedAgentsFilter = (description: string) =>
  excludedFilter(
    list(lowerCase(description, MAX_FILTER_CHARACTERS, /^[^,]+$/, TAKES_AGENTS), TAKES_AGENTS),
    (excluded) => agentIs((agent) => !excluded.includes(agent.toLowerCase())),
  )

/**
 * Whether the pattern matches the whole text. On a mismatch only the last star before it is extended by one
 * character, since extending an earlier one could gain nothing. The time is at most the product of the lengths,
 * whatever the pattern.
 */
export function matchesGlob(text: string, pattern: string): boolean {
  let at = 0
  let place = 0
  let star = -1
  let starAt = 0
  while (at < text.length) {
    const wanted = pattern[place]
    if (wanted === '*') {
      star = place++
      starAt = at
    } else if (wanted === '?' || wanted === text[at]) {
      place++
      at++
    } else if (star >= 0) {
      place = star + 1
      at = ++starAt
    } else return false
  }
  while (pattern[place] === '*') place++
  return place === pattern.length
}
