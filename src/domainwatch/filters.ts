import { compileParameters, presentFlag, integer, type Values } from '../http/parameters.ts'
import { badParameter } from '../http/errors.ts'
import { hasIdnLetter, toSyllables } from '../lib/domain-names.ts'
import { Layout } from '../lib/name-index/index.ts'
import { isExpired, MAX_LABEL_CHARACTERS } from './limits.ts'
import {
  agentIs,
  excludedAgentsFilter,
  excludedTagsFilter,
  excludedTextsFilter,
  excludedWordsFilter,
  filter,
  lengthIs,
  nameContains,
  nameFilter,
  searchFilter,
  sinceFilter,
  tag,
  tagsAre,
  untilFilter,
  word,
  withoutWildcards,
  type Condition,
  type Filter,
  matchesGlob,
  traitFilter,
  traitFlag,
} from './filter-kinds.ts'
import {
  ageAtLeastFilter,
  demandFilter,
  numbersFilter,
  objectionFilter,
  shapeFilter,
  twinFilter,
} from './signal-filters.ts'
import {
  type FilterContext,
  splitTags,
  BOUGHT,
  DISCARDED,
  DROPS,
  mark,
  number,
  RESERVED,
  REVISION,
  type FilteredRecord,
} from './filtered-record.ts'

/** The largest number of words that can be asked for. */
export const MAX_WORDS = 6

/** 0 if it has none. */
const SYLLABLES = number(MAX_LABEL_CHARACTERS, ({ name }) => toSyllables(name) ?? 0)

/**
 * The filters of domain records: the only place that defines one. The parameters of the API, and all that applies filters
 * (`matches` for events, watches and the queue, the query plan of the index in memory) are derived from this table.
 * `test/domainwatch/filter-table.test.ts` compares the index with `matches`, and checks the console and the documentation
 * against the table.
 */
const table = {
  search: searchFilter('Only names that contain all words of this text, separated by spaces'),
  agent: {
    parameter: presentFlag('Whether `search` searches the agent instead of the name'),
    // The parameter is a flag: `readFilters` copies the text of `search` here.
    read: (_isOn: boolean): string | undefined => undefined,
    // Not split into words: names of agents have spaces.
    conditions: (wanted: string): readonly Condition[] => [
      agentIs((agent) => agent.toLowerCase().includes(wanted)),
    ],
  },
  starts: nameFilter('Only names that begin with this text', {
    matches: (name, wanted) => name.startsWith(wanted),
    glob: (wanted) => withoutWildcards(wanted, `${wanted}*`),
  }),
  ends: nameFilter('Only names that end with this text', {
    matches: (name, wanted) => name.endsWith(wanted),
    glob: (wanted) => withoutWildcards(wanted, `*${wanted}`),
  }),
  pattern: nameFilter('Only names like this: `*` stands for any text, `?` for any one character', {
    matches: matchesGlob,
    glob: (wanted) => wanted,
  }),
  length: filter(integer('Only names of this many characters', 1, MAX_LABEL_CHARACTERS), (wanted) =>
    lengthIs(wanted, wanted),
  ),
  min_length: filter(
    integer('Only names of this many characters or more', 1, MAX_LABEL_CHARACTERS),
    (wanted) => lengthIs(wanted, MAX_LABEL_CHARACTERS),
  ),
  max_length: filter(
    integer('Only names of this many characters or fewer', 1, MAX_LABEL_CHARACTERS),
    (wanted) => lengthIs(1, wanted),
  ),
  from: sinceFilter('registered', 'Only records registered on this day, at this time, or later'),
  to: untilFilter('registered', 'Only records registered on this day, at this time, or earlier'),
  modified_from: sinceFilter('modified', 'Only records last changed on this day, at this time, or later'),
  modified_to: untilFilter('modified', 'Only records last changed on this day, at this time, or earlier'),
  deleted_from: sinceFilter('deleted', 'Only records deleted on this day, at this time, or later'),
  deleted_to: untilFilter('deleted', 'Only records deleted on this day, at this time, or earlier'),
  status_from: sinceFilter(
    'status',
    'Only records whose status the service last learnt on this day, at this time, or later: they were recorded, freed or registered again',
  ),
  hyphen: traitFilter(
    mark(({ name }) => name.includes('-')),
    'Only names with (1) or without (0) a hyphen',
  ),
  digits: traitFilter(
    mark(({ name }) => /[0-9]/.test(name)),
    'Only names with (1) or without (0) digits',
  ),
  idn: traitFilter(
    mark(({ name }) => hasIdnLetter(name)),
    'Only names with (1) or without (0) letters beyond ASCII',
  ),
  status: traitFilter(BOUGHT, 'Only records with this status'),
  reserve: traitFlag(RESERVED, 'Only reserved domains'),
  rev: traitFlag(REVISION, 'Only domains marked for review'),
  dis: traitFlag(DISCARDED, 'Only discarded domains'),
  reserved: traitFilter(RESERVED, 'Only domains that are reserved (1) or not (0)'),
  revision: traitFilter(REVISION, 'Only domains marked for review (1) or not (0)'),
  discarded: traitFilter(DISCARDED, 'Only domains that are discarded (1) or not (0)'),
  seen: traitFilter(
    mark(({ seen_at }) => seen_at !== null),
    'Only domains that someone has decided on (1) or no one has (0)',
  ),
  tag: filter(tag('Only records with this tag'), (wanted) => tagsAre((tags) => tags.includes(` ${wanted} `))),
  words: traitFilter(
    number(MAX_WORDS + 1, ({ words }) => splitTags(words).length),
    'Only names that consist of this many words of the dictionary',
    { min: 1, max: MAX_WORDS },
  ),
  word: {
    parameter: word('Only names with this word'),
    read: (wanted: string) => wanted,
    conditions: (wanted: string): readonly Condition[] => [
      nameContains(wanted),
      { matches: ({ words }) => words?.includes(` ${wanted} `) === true },
    ],
  },
  not: excludedTextsFilter('Only names that contain none of these texts, separated by spaces'),
  not_word: excludedWordsFilter('Only names with none of these words, separated by commas'),
  not_tag: excludedTagsFilter('Only records with none of these tags, separated by commas'),
  not_agent: excludedAgentsFilter('Only records of agents other than these, separated by commas'),
  shape: shapeFilter(
    'Only names of this shape, a letter per character: `C` consonant, `V` vowel, `L` either, `N` digit, `H` hyphen',
  ),
  syllables: traitFilter(SYLLABLES, 'Only names of this many syllables', { min: 1 }),
  max_syllables: traitFilter(SYLLABLES, 'Only names of this many syllables or fewer', {
    min: 1,
    range: (most) => [1, most],
  }),
  demand_min: demandFilter(
    'Only names whose every word of 3 letters or more is in at least this many registered names',
  ),
  twin: twinFilter(
    'Only names with (1) or without (0) a registered twin: equal except for hyphens, accents, `ñ` and a plural',
  ),
  drops_min: traitFilter(
    DROPS,
    'Only names that became free this many times or more since they were first recorded',
    { min: 1, range: (least) => [least, DROPS.max] },
  ),
  age_min: ageAtLeastFilter('Only names whose last registration has lasted this many whole years or more'),
  objection: objectionFilter(
    'Only names registered in the last 30 days, in which one can object to the registration (1), or only others (0)',
  ),
  numbers: numbersFilter(
    'Only names whose imported number is at least (`num_<key>_min`) or at most (`num_<key>_max`) this value',
  ),
  hidden: filter(
    integer('Only records that a rule of the group hides (1) or none does (0)', 0, 1),
    (wanted) => ({
      matches: ({ hidden }) => hidden === wanted,
      index: { kind: 'marked', isMarked: wanted === 1 },
    }),
  ),
}

type Table = typeof table
type GivenValues = { [K in FilterName]: Parameters<Table[K]['read']>[0] }
type WantedValues = { [K in FilterName]: ReturnType<Table[K]['read']> & {} }
const definitions: { readonly [K in FilterName]: Filter<GivenValues[K], WantedValues[K]> } = table

export type FilterName = keyof Table

/** The filters of a request, normalised. A filter that is absent, undefined or false has no effect. */
export type Filters = { readonly [K in FilterName]?: WantedValues[K] | undefined } & {
  /** Only names of a set, which was found elsewhere. */
  readonly among?: Condition
}

// An object literal has no other keys than its type.
export const FILTER_NAMES = Object.keys(table) as readonly FilterName[]

const isKey = (name: string): name is FilterName => Object.hasOwn(table, name)

/** What the index holds of each record for the filters, in addition to its columns. */
export const LAYOUT = new Layout(FILTER_NAMES.flatMap((name) => definitions[name].trait ?? []))

/** The parameters of requests, in the order of the table. */
export const filterParameters = Object.fromEntries(
  FILTER_NAMES.map((name) => [name, table[name].parameter]),
  // Built name by name from the table, as the mapped type says.
) as { readonly [K in FilterName]: Table[K]['parameter'] }

export const isFilterName = (name: string): boolean =>
  FILTER_NAMES.some((key) => definitions[key].parameter.names?.test(name) ?? key === name)

/** Parses the filters of a request, or filters as they are stored. */
export const parseFilters = compileParameters(filterParameters)

/** @throws HttpError 400 for `agent` without `search` */
export function readFilters(values: Values<typeof filterParameters>): Filters {
  const filters: { -readonly [K in FilterName]?: Filters[K] } = {}
  const read = <K extends FilterName>(name: K, given: GivenValues[K] | undefined) => {
    if (given !== undefined && given !== false) filters[name] = definitions[name].read(given)
  }
  for (const name in values) if (isKey(name)) read(name, values[name])
  if (values.agent) {
    if (values.search === undefined || values.search === '') {
      throw badParameter('agent', 'necesita el parámetro search')
    }
    filters.agent = values.search.toLowerCase()
    filters.search = undefined
  }
  return filters
}

/** The conditions of the filters that are set. */
export function toConditions(filters: Filters): readonly Condition[] {
  const found: Condition[] = []
  const add = <K extends FilterName>(name: K, wanted: WantedValues[K] | undefined) => {
    if (wanted !== undefined) found.push(...definitions[name].conditions(wanted))
  }
  for (const name in filters) if (isKey(name)) add(name, filters[name])
  if (filters.among !== undefined) found.push(filters.among)
  return found
}

/** Watches and event streams apply the same filters to one record after another. */
const known = new WeakMap<Filters, readonly Condition[]>()

function getKnownConditions(filters: Filters): readonly Condition[] {
  let conditions = known.get(filters)
  if (conditions === undefined) {
    conditions = toConditions(filters)
    known.set(filters, conditions)
  }
  return conditions
}

/** Whether a list with these filters contains the record. */
export function matches(filters: Filters, record: FilteredRecord, context: FilterContext): boolean {
  if (record.discarded_at !== null && isExpired(record.discarded_at, context.now)) return false
  return letsThrough(filters, record, context)
}

/** The same of a record that may have expired. */
export function letsThrough(filters: Filters, record: FilteredRecord, context: FilterContext): boolean {
  return getKnownConditions(filters).every((condition) => condition.matches(record, context))
}

/** Filters as they are stored: the texts of the parameters. */
export type SavedFilters = Readonly<Record<string, string>>

type FilterValue = string | number | boolean | undefined

/** Returns the given filters, to be stored. */
export function serializeFilters(
  values: Readonly<Record<string, FilterValue | Readonly<Record<string, number>>>>,
): SavedFilters {
  const saved: Record<string, string> = {}
  for (const [name, value] of Object.entries(values)) {
    // Parameters whose names follow a pattern.
    if (typeof value === 'object') Object.assign(saved, serializeFilters(value))
    else if (value === true) saved[name] = ''
    else if (value !== undefined && value !== false) saved[name] = String(value)
  }
  return saved
}

export function parseSavedFilters(filters: string): SavedFilters {
  const saved: SavedFilters = JSON.parse(filters)
  return saved
}
