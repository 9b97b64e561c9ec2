import { isCalendarDateTime } from '../lib/dates.ts'
import { HttpError } from '../lib/errors.ts'
import { foldSearch, type SearchText } from '../lib/domain-names.ts'
import { aLabelOf } from '../lib/punycode.ts'
import { flag, integer, text, type Parameter, type Values } from '../http/parameters.ts'
import type { Dialect } from '../storage/database/dialect.ts'
import type { Sql } from '../storage/database/sql.ts'
import { isGone } from './discarding.ts'
import { endingWith, globParts, matchesGlob, startingWith } from './glob.ts'
import { MAX_LABEL_CHARACTERS } from './limits.ts'
import * as conditions from './queries-conditions.ts'
import type { IndexTerm } from '../lib/name-index/index.ts'

/**
 * The filters of domain records: the only place that defines one. The parameters of the API, and the engines that apply
 * filters (`matches` for events and watches, the SQL of `queries.ts`, the query plan of the index in memory) are derived from
 * this table. `test/domainwatch/filter-table.test.ts` compares the engines with each other, and checks the console and the
 * documentation against the table.
 */
interface Filter<Given, Wanted> {
  /** Its description, schema and parser; its name is the key in the table. */
  readonly parameter: Parameter<Given>
  /** The normalised value. Undefined if the filter lets every record through. */
  readonly read: (given: Given) => Wanted | undefined
  readonly condition: (wanted: Wanted) => Condition | undefined
}

/** What a filter asks of a record, for each engine. */
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
}

const MAX_TEXT = 255
const DAY_LENGTH = 'YYYY-MM-DD'.length
const TAKES_DATE_TIME = 'debe ser un día (YYYY-MM-DD) o una fecha y hora (YYYY-MM-DD HH:MM:SS) que existan'

const table = {
  search: nameFilter('Only names that contain this text', {
    matches: (name, wanted) => name.includes(wanted),
    sql: (dialect, column, wanted) => dialect.contains(column, wanted),
    glob: (wanted) => withoutWildcards(wanted, `*${wanted}*`),
  }),
  agent: {
    parameter: flag('Look for `search` in the agent instead'),
    // The parameter is a flag: `readFilters` copies the text of `search` here.
    read: (_isOn: boolean): string | undefined => undefined,
    condition: (wanted: string): Condition => ({
      matches: ({ agent }) => agent.toLowerCase().includes(wanted),
      sql: conditions.agentContains(wanted),
      index: { kind: 'agent', text: wanted },
    }),
  },
  starts: nameFilter('Only names that begin with this text', {
    matches: (name, wanted) => name.startsWith(wanted),
    sql: (dialect, column, wanted) => dialect.glob(column, startingWith(wanted)),
    glob: (wanted) => withoutWildcards(wanted, `${wanted}*`),
  }),
  ends: nameFilter('Only names that end with this text', {
    matches: (name, wanted) => name.endsWith(wanted),
    sql: (dialect, column, wanted) => dialect.glob(column, endingWith(wanted)),
    glob: (wanted) => withoutWildcards(wanted, `*${wanted}`),
  }),
  pattern: nameFilter('Only names like this: `*` stands for any text, `?` for any one character', {
    matches: matchesGlob,
    sql: (dialect, column, wanted) => dialect.glob(column, globParts(wanted)),
    glob: (wanted) => wanted,
  }),
  length: filter(integer('Only names of this many characters', 1, MAX_LABEL_CHARACTERS), (wanted) => ({
    matches: ({ name }) => name.length === wanted,
    sql: conditions.lengthIs('=', wanted),
    index: { kind: 'length', min: wanted, max: wanted },
  })),
  min_length: filter(
    integer('Only names of this many characters or more', 1, MAX_LABEL_CHARACTERS),
    (wanted) => ({
      matches: ({ name }) => name.length >= wanted,
      sql: conditions.lengthIs('>=', wanted),
      index: { kind: 'length', min: wanted },
    }),
  ),
  max_length: filter(
    integer('Only names of this many characters or fewer', 1, MAX_LABEL_CHARACTERS),
    (wanted) => ({
      matches: ({ name }) => name.length <= wanted,
      sql: conditions.lengthIs('<=', wanted),
      index: { kind: 'length', max: wanted },
    }),
  ),
  from: filter(
    dateTime('Only registered on this day, or at this moment, or later', '00:00:00'),
    (wanted) => ({
      matches: ({ date_reg }) => date_reg >= wanted,
      sql: conditions.registeredAt('>=', wanted),
      index: { kind: 'registered', from: wanted },
    }),
  ),
  to: filter(
    dateTime('Only registered on this day, or at this moment, or earlier', '23:59:59'),
    (wanted) => ({
      matches: ({ date_reg }) => date_reg <= wanted,
      sql: conditions.registeredAt('<=', wanted),
      index: { kind: 'registered', to: wanted },
    }),
  ),
  hyphen: filter(integer('Only names with (1) or without (0) a hyphen', 0, 1), (wanted) => ({
    matches: ({ name }) => name.includes('-') === (wanted === 1),
    sql: conditions.nameIs(wanted, (dialect, name) => dialect.contains(name, '-')),
    index: { kind: 'bit', of: 'hyphen', value: wanted },
  })),
  digits: filter(integer('Only names with (1) or without (0) digits', 0, 1), (wanted) => ({
    matches: ({ name }) => /[0-9]/.test(name) === (wanted === 1),
    sql: conditions.nameIs(wanted, (dialect, name) => dialect.hasDigit(name)),
    index: { kind: 'bit', of: 'digits', value: wanted },
  })),
  idn: filter(integer('Only names with (1) or without (0) letters beyond ASCII', 0, 1), (wanted) => ({
    matches: ({ name }) => isIdn(name) === (wanted === 1),
    sql: conditions.isIdn(wanted),
    index: { kind: 'bit', of: 'idn', value: wanted },
  })),
  status: filter(integer('Only records with this status', 0, 1), (wanted) => ({
    matches: ({ status }) => status === wanted,
    sql: conditions.bitIs('status', wanted),
    index: { kind: 'bit', of: 'status', value: wanted },
  })),
  reserve: flagFilter('Only reserved domains', {
    matches: ({ reserved }) => reserved === 1,
    sql: conditions.bitIs('reserved', 1),
    index: { kind: 'bit', of: 'reserved', value: 1 },
  }),
  rev: flagFilter('Only domains marked for review', {
    matches: ({ revision }) => revision === 1,
    sql: conditions.bitIs('revision', 1),
    index: { kind: 'bit', of: 'revision', value: 1 },
  }),
  dis: flagFilter('Only discarded domains', {
    matches: ({ discarded_at }) => discarded_at !== null,
    sql: conditions.isDiscarded,
    index: { kind: 'bit', of: 'discarded', value: 1 },
  }),
}

type Table = typeof table
type GivenValues = { [K in FilterName]: Parameters<Table[K]['read']>[0] }
type WantedValues = { [K in FilterName]: ReturnType<Table[K]['read']> & {} }
const definitions: { readonly [K in FilterName]: Filter<GivenValues[K], WantedValues[K]> } = table

export type FilterName = keyof Table

/** The filters of a request, normalised. What is absent, undefined or false does not filter. */
export type Filters = { readonly [K in FilterName]?: WantedValues[K] | undefined }

// An object literal has no other keys than its type.
export const FILTER_NAMES = Object.keys(table) as readonly FilterName[]

/** The parameters of requests, in the order of the table. */
export const filterParameters = Object.fromEntries(
  FILTER_NAMES.map((name) => [name, table[name].parameter]),
  // Built name by name from the table, as the mapped type says.
) as { readonly [K in FilterName]: Table[K]['parameter'] }

/** @throws HttpError 400 for `agent` without `search` */
export function readFilters(values: Values<typeof filterParameters>): Filters {
  const filters: { -readonly [K in FilterName]?: Filters[K] } = {}
  const read = <K extends FilterName>(name: K, given: GivenValues[K] | undefined) => {
    filters[name] = given === undefined ? undefined : definitions[name].read(given)
  }
  for (const name of FILTER_NAMES) read(name, values[name])
  if (values.agent) {
    if (values.search === undefined || values.search === '') {
      throw new HttpError(400, 'El parámetro agent necesita el parámetro search')
    }
    filters.agent = values.search.toLowerCase()
    filters.search = undefined
  }
  return filters
}

/** Requests come with filters of their own, but watches and event streams apply theirs to one record after the other. */
const known = new WeakMap<Filters, readonly NamedCondition[]>()

interface NamedCondition extends Condition {
  readonly name: FilterName
}

/** The conditions of the filters that are set, in the order of the table. */
export function conditionsOf(filters: Filters): readonly NamedCondition[] {
  const cached = known.get(filters)
  if (cached !== undefined) return cached
  const found: NamedCondition[] = []
  const add = <K extends FilterName>(name: K, wanted: WantedValues[K] | undefined) => {
    const condition = wanted === undefined ? undefined : definitions[name].condition(wanted)
    if (condition !== undefined) found.push({ name, ...condition })
  }
  for (const name of FILTER_NAMES) add(name, filters[name])
  known.set(filters, found)
  return found
}

/** Whether a list with these filters shows the record at the moment `now`. */
export function matches(filters: Filters, record: FilteredRecord, now: number): boolean {
  if (record.discarded_at !== null && isGone(record.discarded_at, now)) return false
  return conditionsOf(filters).every((condition) => condition.matches(record))
}

function filter<T>(parameter: Parameter<T>, condition: (wanted: T) => Condition): Filter<T, T> {
  return { parameter, read: (given) => given, condition }
}

function flagFilter(
  description: string,
  condition: Condition,
): Filter<boolean, boolean> & { parameter: Parameter<true> } {
  return {
    parameter: flag(description),
    read: (given) => given,
    condition: (isOn) => (isOn ? condition : undefined),
  }
}

/** How a name, or its A-label, is compared with a text. */
interface NameComparison {
  readonly matches: (name: string, wanted: string) => boolean
  readonly sql: (dialect: Dialect, column: Sql, wanted: string) => Sql
  /** The same as a pattern of `*` and `?`; undefined if no name can match. */
  readonly glob: (wanted: string) => string | undefined
}

function nameFilter(description: string, compare: NameComparison): Filter<string, SearchText> {
  return {
    parameter: text(description, MAX_TEXT),
    read: (given) => {
      const folded = foldSearch(given)
      return folded.text === '' ? undefined : folded
    },
    condition: (wanted) => ({
      matches: ({ name }) =>
        compare.matches(name, wanted.text) ||
        (wanted.ascii !== undefined && isIdn(name) && compare.matches(aLabelOf(name), wanted.ascii)),
      sql: conditions.nameMatches(wanted, compare.sql),
      index: {
        kind: 'name',
        glob: compare.glob(wanted.text),
        aLabelGlob: wanted.ascii === undefined ? undefined : compare.glob(wanted.ascii),
      },
    }),
  }
}

/** `*` and `?` in the text stand for themselves, which are in no name. */
const withoutWildcards = (wanted: string, glob: string) => (/[*?]/.test(wanted) ? undefined : glob)

/** A name has letters of .cl's alphabet only: those that are not ASCII are letters. */
function isIdn(name: string): boolean {
  return /[^\0-\x7f]/.test(name)
}

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
