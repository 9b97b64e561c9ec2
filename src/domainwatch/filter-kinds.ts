import { isCalendarDateTime } from '../lib/dates.ts'
import { aLabelOf, foldSearch, hasIdnLetter, type SearchText } from '../lib/domain-names.ts'
import {
  CHARACTER_MARKS,
  type CharacterMark,
  type DateColumn,
  type IndexTerm,
} from '../lib/name-index/index.ts'
import { hasAtMostCharacters } from '../lib/text.ts'
import { flag, text, type Parameter, integer } from '../http/parameters.ts'
import { MAX_TAG_CHARACTERS } from './tags.ts'

/** The kinds of filters that the table in `filters.ts` is made of. */
export interface Filter<Given, Wanted> {
  /** Its description, schema and parser; its name is the key in the table. */
  readonly parameter: Parameter<Given>
  /** The normalised value. Undefined if the filter lets every record through. */
  readonly read: (given: Given) => Wanted | undefined
  /** All of them must hold. */
  readonly conditions: (wanted: Wanted) => readonly Condition[]
}

/** A condition on a record, and the same for the index. */
export interface Condition {
  readonly matches: (record: FilteredRecord) => boolean
  readonly index: IndexTerm
}

/** The fields of a record that filters look at. The log of changes has them too. */
export interface FilteredRecord {
  readonly name: string
  readonly agent: string
  readonly status: number
  readonly reserved: number
  readonly revision: number
  /** Milliseconds since 1970; null if it is not discarded. */
  readonly discarded_at: number | null
  /** The registration, or the deletion if that is unknown (`date_reg_known` is 0). */
  readonly date_reg: string
  readonly date_reg_known: number
  readonly date_mod: string
  /** When it was deleted; null if it is bought. */
  readonly deleted_at: string | null
  /** When someone decided on it, in milliseconds since 1970; null if no one has. */
  readonly seen_at: number | null
  /** Each tag with a space before and after it (` casa venta `); null if there is none. */
  readonly tags: string | null
  /** Each word of the name likewise; null if it does not consist of words. */
  readonly words: string | null
}

export const MAX_FILTER_CHARACTERS = 255
const DAY_LENGTH = 'YYYY-MM-DD'.length
const MAX_WORD = 31
const TAKES_WORD = `debe ser una palabra de 1 a ${MAX_WORD} letras`
const TAKES_TAG = `debe ser una etiqueta de 1 a ${MAX_TAG_CHARACTERS} letras, dígitos o guiones`
const TAKES_DATE_TIME = 'debe ser un día (YYYY-MM-DD) o una fecha y hora (YYYY-MM-DD HH:MM:SS) que existan'

export function filter<T>(parameter: Parameter<T>, condition: (wanted: T) => Condition): Filter<T, T> {
  return { parameter, read: (given) => given, conditions: (wanted) => [condition(wanted)] }
}

type Trait = (record: FilteredRecord) => boolean

/** What a record has or has not, besides names with some characters. */
const TRAITS = {
  status: ({ status }) => status === 1,
  reserved: ({ reserved }) => reserved === 1,
  revision: ({ revision }) => revision === 1,
  discarded: ({ discarded_at }) => discarded_at !== null,
  seen: ({ seen_at }) => seen_at !== null,
} satisfies Readonly<Partial<Record<Extract<IndexTerm, { readonly kind: 'bit' }>['of'], Trait>>>

type TraitName = keyof typeof TRAITS | CharacterMark

const hasOwnTrait = (of: TraitName): of is keyof typeof TRAITS => Object.hasOwn(TRAITS, of)

/** The trait of names that contain one of these characters. */
function characterTrait(characters: string): Trait {
  const pattern = new RegExp(`[${characters}]`)
  return ({ name }) => pattern.test(name)
}

function traitIs(of: TraitName, value: number): Condition {
  const has = hasOwnTrait(of) ? TRAITS[of] : characterTrait(CHARACTER_MARKS[of].characters)
  return {
    matches: (record) => has(record) === (value === 1),
    index: { kind: 'bit', of, value },
  }
}

/** Filters records that have the trait (1) or have it not (0). */
export function traitFilter(of: TraitName, description: string): Filter<number, number> {
  return filter(integer(description, 0, 1), (wanted) => traitIs(of, wanted))
}

/** Filters records that have the trait. */
export function traitFlag(
  of: TraitName,
  description: string,
): Filter<boolean, boolean> & { parameter: Parameter<true> } {
  return {
    parameter: flag(description),
    read: (given) => given,
    conditions: (isOn) => (isOn ? [traitIs(of, 1)] : []),
  }
}

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

const CONTAINS: NameComparison = {
  matches: (name, wanted) => name.includes(wanted),
  glob: (wanted) => withoutWildcards(wanted, `*${wanted}*`),
}

/** Compares each word of the text separately, so that each may have a suffix or be an A-label. */
export function searchFilter(description: string): Filter<string, readonly SearchText[]> {
  return {
    parameter: text(description, MAX_FILTER_CHARACTERS),
    read: (given) => {
      const words = new Set(given.split(' ').filter((word) => word !== ''))
      const folded = Array.from(words, foldSearch).filter((word) => word.text !== '')
      return folded.length === 0 ? undefined : folded
    },
    conditions: (words) => words.map((word) => nameCondition(word, CONTAINS)),
  }
}

function nameCondition(wanted: SearchText, compare: NameComparison): Condition {
  return {
    matches: ({ name }) =>
      compare.matches(name, wanted.text) ||
      (wanted.ascii !== undefined && hasIdnLetter(name) && compare.matches(aLabelOf(name), wanted.ascii)),
    index: {
      kind: 'name',
      glob: compare.glob(wanted.text),
      aLabelGlob: wanted.ascii === undefined ? undefined : compare.glob(wanted.ascii),
    },
  }
}

const DATE_COLUMNS = { registered: 'date_reg', modified: 'date_mod', deleted: 'deleted_at' } as const

/** Returns a date of a record; null if it has none, or if that is unknown: then it is neither before nor after any other. */
function dateOf(record: FilteredRecord, of: DateColumn): string | null {
  return of === 'registered' && record.date_reg_known === 0 ? null : record[DATE_COLUMNS[of]]
}

export function sinceFilter(of: DateColumn, description: string): Filter<string, string> {
  return filter(dateTime(description, '00:00:00'), (wanted) => ({
    matches: (record) => (dateOf(record, of) ?? '') >= wanted,
    index: { kind: 'date', of, from: wanted },
  }))
}

export function untilFilter(of: DateColumn, description: string): Filter<string, string> {
  return filter(dateTime(description, '23:59:59'), (wanted) => ({
    matches: (record) => {
      const date = dateOf(record, of)
      return date !== null && date <= wanted
    },
    index: { kind: 'date', of, to: wanted },
  }))
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
