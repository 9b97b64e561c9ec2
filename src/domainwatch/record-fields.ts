import { setImmediate as nextTurn } from 'node:timers/promises'
import { localDateTime } from '../lib/dates.ts'
import { toShape, toSyllables } from '../lib/domain-names.ts'
import {
  array,
  integer,
  object,
  optional,
  string,
  type JsonSchema,
  nullable,
} from '../http/openapi/json-schema.ts'
import type { Parameter } from '../http/parameters.ts'
import { accountClient } from '../lib/client.ts'
import type { Reader } from '../storage/database/database.ts'
import {
  type FilterContext,
  getDrops,
  type FilteredRecord,
  getAge,
  objectionEnd,
  splitTags,
} from './filtered-record.ts'
import { recordsNamed, type RecordRow } from './queries-records.ts'
import { parseNumbers } from './numbers.ts'
import { FEATURE_KINDS } from './interest/learning.ts'
import type { DomainContext } from './context.ts'
import { MAX_SCORE, type InterestModel, type Reason, scoredRecord } from './tasks/scores.ts'
import type { SplitName } from './words.ts'
import { bit, recordFields } from './schemas.ts'

/** A field that `fields` adds. Parameter, answers and OpenAPI document follow from the table of them. */
interface RecordField {
  readonly schema: JsonSchema
  readonly value: (row: RecordRow, context: FieldContext) => FieldValue
}

/** What values need besides the row. */
interface FieldContext {
  readonly timeZone: string
  /** Returns the words of a name. */
  readonly split: SplitName
  /** As of now. */
  readonly context: FilterContext
  /** The taste of the group; undefined if there are too few decisions to know it, or no field asks for it. */
  readonly model: InterestModel | undefined
}

type RecordContext = Pick<
  DomainContext,
  'clock' | 'database' | 'dictionary' | 'interest' | 'nameIndex' | 'searches' | 'timeZone'
>

export type FieldValue =
  string | number | null | readonly string[] | readonly Reason[] | Readonly<Record<string, number>>

const local = (epochMs: number | null, timeZone: string) =>
  epochMs === null ? null : localDateTime(epochMs, timeZone)

const table = {
  seen: {
    schema: bit('Decided on (1) or not (0)'),
    value: ({ seen_at }) => (seen_at === null ? 0 : 1),
  },
  seen_by: {
    schema: nullable(string('Account that decided on the record')),
    value: ({ seen_by }) => seen_by,
  },
  seen_at: {
    schema: nullable(string('Time of the decision, in the time zone of the service')),
    value: ({ seen_at }, { timeZone }) => local(seen_at, timeZone),
  },
  note: { schema: string('Note; empty for none'), value: ({ note }) => note ?? '' },
  tags: { schema: array(string(), 'Tags'), value: ({ tags }) => splitTags(tags) },
  words: {
    schema: array(string(), 'Dictionary words that the name consists of; empty if it has other parts'),
    value: ({ name }, { split }) => split(name),
  },
  deleted_at: {
    schema: nullable(string('Deletion time; null while the domain is registered')),
    value: ({ deleted_at }) => deleted_at,
  },
  discarded_at: {
    schema: nullable(
      string('Time of discarding, in the time zone of the service; null if the record is not discarded'),
    ),
    value: ({ discarded_at }, { timeZone }) => local(discarded_at, timeZone),
  },
  claimed_by: {
    schema: nullable(string('Account that claimed the record; null if none has')),
    value: ({ claimed_by }) => claimed_by,
  },
  claimed_until: {
    schema: nullable(string('End of the claim, in the time zone of the service')),
    value: ({ claimed_until }, { timeZone }) => local(claimed_until, timeZone),
  },
  deleted_after: {
    schema: nullable(
      string('Earliest possible deletion time; null if unknown, or while the domain is registered'),
    ),
    value: ({ status, deleted_after }) => (status === 0 ? deleted_after : null),
  },
  date_reg_known: {
    schema: bit('Whether the registration time is known (1); otherwise `date_reg` is the deletion time (0)'),
    value: ({ date_reg_known }) => date_reg_known,
  },
  dismissed_by: {
    schema: nullable(string('Account that discarded an earlier record of the name')),
    value: ({ dismissed_by }) => dismissed_by,
  },
  dismissed_at: {
    schema: nullable(string('Time of that discarding, in the time zone of the service')),
    value: ({ dismissed_at }, { timeZone }) => local(dismissed_at, timeZone),
  },
  shape: {
    schema: string(
      'Shape of the name, a letter per character: `C` consonant, `V` vowel, `N` digit, `H` hyphen',
    ),
    value: ({ name }) => toShape(name),
  },
  syllables: {
    schema: nullable(integer('Syllables of the name; null without a vowel, or with a digit or a hyphen')),
    value: ({ name }) => toSyllables(name),
  },
  demand: {
    schema: nullable(
      integer(
        'Number of registered domains with the rarest word of the name, among words of 3 letters or more; null without such a word',
      ),
    ),
    value: ({ name }, { split, context }) => context.getDemand(split(name)),
  },
  twins: {
    schema: array(
      string(),
      'Registered names that are equal except for hyphens, accents, `ñ` and a plural; the first 10 by name',
    ),
    value: ({ name }, { context }) => context.getTwins(name),
  },
  drops: {
    schema: integer('Number of times that the name became free since it was first recorded'),
    value: getDrops,
  },
  age: {
    schema: nullable(
      integer(
        'Whole years from the registration to the deletion, or to now while the domain is registered; null if the registration time is unknown',
      ),
    ),
    value: (row, { context }) => getAge(row, context.localNow),
  },
  object_until: {
    schema: nullable(
      string(
        'End of the 30 days in which one can object to the registration; null after that, or while the domain is free',
      ),
    ),
    value: (row, { context }) => objectionEnd(row, context.localNow),
  },
  interest: {
    schema: nullable(
      integer(
        'Predicted interest of the group in the name, from 0 to 100; null before there are enough decisions to learn from',
      ),
    ),
    value: (row, { model, split, context }) =>
      model === undefined
        ? null
        : Math.round((model.getScore(scoredRecord(row, split(row.name), context)) / MAX_SCORE) * 100),
  },
  because: {
    schema: array(
      object({
        kind: string({ enum: FEATURE_KINDS, description: 'Kind of the property' }),
        value: string('Value of the property'),
        accepted: integer('Number of names with the property that the group wanted'),
        of: integer('Number of names with the property that the group decided on'),
        text: string('Reason in Spanish'),
      }),
      'The three strongest reasons for `interest`, for or against; empty before there are enough decisions',
    ),
    value: (row, { model, split, context }) =>
      model?.reasonsFor(scoredRecord(row, split(row.name), context)) ?? [],
  },
  numbers: {
    schema: {
      type: 'object',
      additionalProperties: { type: 'number' },
      description: 'Imported numbers of the name, by key',
    },
    value: ({ numbers }) => Object.fromEntries(parseNumbers(numbers)),
  },
} as const satisfies Readonly<Record<string, RecordField>>

const asksForInterest = (fields: readonly FieldName[]) =>
  fields.includes('interest') || fields.includes('because')

export type FieldName = keyof typeof table

const isFieldName = (name: string): name is FieldName => Object.hasOwn(table, name)

/** In the order in which answers carry them. */
export const FIELD_NAMES: readonly FieldName[] = Object.keys(table).filter(isFieldName)

/** A record in the OpenAPI document. */
export const domainRecord = object(
  {
    ...recordFields,
    ...Object.fromEntries(FIELD_NAMES.map((name) => [name, optional(table[name].schema)])),
  },
  { title: 'DomainRecord', description: 'Recorded domain; the parameter `fields` adds further fields' },
)

/** `all`, or names separated by commas. */
export const fieldsParameter: Parameter<readonly FieldName[]> = {
  required: false,
  description: `Additional fields of the records: \`all\`, or a list separated by commas of ${FIELD_NAMES.join(', ')}`,
  schema: { type: 'string', examples: ['all', 'seen,note,tags'] },
  parse: (given) => {
    if (given === 'all') return { value: FIELD_NAMES }
    const names = given.split(',').map((name) => name.trim())
    return names.every(isFieldName)
      ? { value: FIELD_NAMES.filter((name) => names.includes(name)) }
      : { takes: `debe ser all o una lista, separada por comas, de ${FIELD_NAMES.join(', ')}` }
  },
}

export type FurtherFields = Readonly<Partial<Record<FieldName, FieldValue>>>

function getFurtherFields(
  row: RecordRow,
  fields: readonly FieldName[],
  context: FieldContext,
): FurtherFields {
  return Object.fromEntries(fields.map((name) => [name, table[name].value(row, context)]))
}

/** What the fields of every response are made of. */
export type ListedRecord = Omit<
  FilteredRecord,
  'date_reg_known' | 'deleted_at' | 'past_drops' | 'seen_at' | 'tags' | 'words' | 'numbers' | 'hidden'
>

/** The fields of a record that every response has, in their order. */
export function listedFields(record: ListedRecord) {
  const { name, agent, status, reserved, revision, discarded_at, date_reg, date_mod } = record
  const discarded = discarded_at === null ? 0 : 1
  return { name, length: name.length, agent, status, reserved, revision, discarded, date_reg, date_mod }
}

export type RecordWithFields = Readonly<Record<string, FieldValue>> & { readonly name: string }

/** Reads the fields of records that the index in memory does not have. */
export class RecordFields {
  readonly #options: RecordContext

  constructor(options: RecordContext) {
    this.#options = options
  }

  /**
   * Returns the records with these names, in the order of the names. Records that no longer exist are omitted.
   * @param names a page of them
   * @param account its id: accounts take turns, between which other requests are answered
   * @param signal ends the wait
   * @param model that sorted the names; by default the newest one, trained now if it is due
   * @throws OverloadError if too many pages wait
   */
  async page(
    names: readonly string[],
    fields: readonly FieldName[],
    account: number,
    signal?: AbortSignal,
    model?: InterestModel,
  ): Promise<RecordWithFields[]> {
    const known = model ?? (asksForInterest(fields) ? await this.#options.interest.find() : undefined)
    const client = accountClient(account)
    const read = async () => {
      // A large page, with long notes, takes the event loop some 60 ms.
      await nextTurn()
      return this.#read(names, fields, this.#options.database.readerOf(client), known)
    }
    return this.#options.searches.run(client, read, signal)
  }

  /** The same without waiting. @param reader a transaction, to read what it wrote */
  async withFields(
    names: readonly string[],
    fields: readonly FieldName[],
    reader: Reader,
  ): Promise<RecordWithFields[]> {
    return this.#read(names, fields, reader, await this.#newest(fields))
  }

  async #read(
    names: readonly string[],
    fields: readonly FieldName[],
    reader: Reader,
    model: InterestModel | undefined,
  ): Promise<RecordWithFields[]> {
    const rows = await this.#rows(names, reader)
    const context = this.#context(model)
    return rows.map((row) => ({ ...listedFields(row), ...getFurtherFields(row, fields, context) }))
  }

  /** Returns the further fields alone, by name, of one part of very many records. */
  async byName(
    names: readonly string[],
    fields: readonly FieldName[],
    account?: number,
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<string, FurtherFields>> {
    const rows = await this.#rows(names, this.#options.database.scannerOf(account, signal))
    const context = this.#context(await this.#newest(fields))
    return new Map(rows.map((row) => [row.name, getFurtherFields(row, fields, context)]))
  }

  /** Without training, which would wait for the transaction that reads. */
  async #newest(fields: readonly FieldName[]): Promise<InterestModel | undefined> {
    return asksForInterest(fields) ? this.#options.interest.newest() : undefined
  }

  #context(model: InterestModel | undefined): FieldContext {
    const { clock, dictionary, nameIndex, timeZone } = this.#options
    return { timeZone, split: dictionary.split, context: nameIndex.contextAt(clock.now()), model }
  }

  async #rows(names: readonly string[], reader: Reader): Promise<RecordRow[]> {
    const rows = await reader.all(
      recordsNamed(this.#options.database.dialect, names, this.#options.clock.now()),
    )
    const byName = new Map(rows.map((row) => [row.name, row]))
    return names.flatMap((name) => byName.get(name) ?? [])
  }
}
