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
import type { Dialect, GlobPart } from '../storage/database/dialect.ts'
import type { Sql } from '../storage/database/sql.ts'
import * as conditions from './queries-conditions.ts'
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

/** A condition on a record, for each engine. */
export interface Condition {
  readonly matches: (record: FilteredRecord) => boolean
  readonly sql: conditions.SqlCondition
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
  readonly date_reg: string
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

interface Trait {
  readonly has: (record: FilteredRecord) => boolean
  /** @param value 1 for records that have it, 0 for those that have not */
  readonly sql: (value: number) => conditions.SqlCondition
}

/** What a record has or has not, besides names with some characters. */
const TRAITS = {
  // The column of the A-label tells.
  idn: { has: ({ name }) => hasIdnLetter(name), sql: conditions.isIdn },
  status: { has: ({ status }) => status === 1, sql: (value) => conditions.bitIs('status', value) },
  reserved: { has: ({ reserved }) => reserved === 1, sql: (value) => conditions.bitIs('reserved', value) },
  revision: { has: ({ revision }) => revision === 1, sql: (value) => conditions.bitIs('revision', value) },
  discarded: {
    has: ({ discarded_at }) => discarded_at !== null,
    sql: (value) => conditions.isSet('discarded_at', value),
  },
  seen: { has: ({ seen_at }) => seen_at !== null, sql: (value) => conditions.isSet('seen_at', value) },
} satisfies Readonly<Partial<Record<Extract<IndexTerm, { readonly kind: 'bit' }>['of'], Trait>>>

type TraitName = keyof typeof TRAITS | CharacterMark

const hasOwnTrait = (of: TraitName): of is keyof typeof TRAITS => Object.hasOwn(TRAITS, of)

/** The trait of names that contain one of these characters. */
function characterTrait(characters: string): Trait {
  const pattern = new RegExp(`[${characters}]`)
  return {
    has: ({ name }) => pattern.test(name),
    sql: (value) => conditions.nameIs(value, (dialect, name) => dialect.containsAny(name, characters)),
  }
}

function traitIs(of: TraitName, value: number): Condition {
  const trait = hasOwnTrait(of) ? TRAITS[of] : characterTrait(CHARACTER_MARKS[of].characters)
  return {
    matches: (record) => trait.has(record) === (value === 1),
    sql: trait.sql(value),
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
  readonly sql: (dialect: Dialect, column: Sql, wanted: string) => Sql
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
  sql: (dialect, column, wanted) => dialect.contains(column, wanted),
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
    sql: conditions.nameMatches(wanted, compare.sql),
    index: {
      kind: 'name',
      glob: compare.glob(wanted.text),
      aLabelGlob: wanted.ascii === undefined ? undefined : compare.glob(wanted.ascii),
    },
  }
}

const DATE_COLUMNS = { registered: 'date_reg', modified: 'date_mod', deleted: 'deleted_at' } as const

export function sinceFilter(of: DateColumn, description: string): Filter<string, string> {
  const column = DATE_COLUMNS[of]
  return filter(dateTime(description, '00:00:00'), (wanted) => ({
    matches: (record) => (record[column] ?? '') >= wanted,
    sql: conditions.isAt(column, '>=', wanted),
    index: { kind: 'date', of, from: wanted },
  }))
}

export function untilFilter(of: DateColumn, description: string): Filter<string, string> {
  const column = DATE_COLUMNS[of]
  return filter(dateTime(description, '23:59:59'), (wanted) => ({
    // A record that was never deleted was deleted neither before nor after.
    matches: (record) => {
      const date = record[column]
      return date !== null && date <= wanted
    },
    sql: conditions.isAt(column, '<=', wanted),
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

const MANY: GlobPart = { wild: 'many' }
const ONE: GlobPart = { wild: 'one' }

/** Splits a pattern with `*` and `?`. Consecutive stars are one. */
export function globParts(pattern: string): readonly GlobPart[] {
  return (pattern.match(/\*+|\?|[^*?]+/g) ?? []).map((part) =>
    part.startsWith('*') ? MANY : part === '?' ? ONE : part,
  )
}

export const startingWith = (text: string): readonly GlobPart[] => [text, MANY]
export const endingWith = (text: string): readonly GlobPart[] => [MANY, text]

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
