/**
 * Worker task: reads the field `data` of a body, and checks the records of `add` and `update`. A batch of 50,000 records takes some
 * hundred milliseconds, which must not block the event loop; nor must a list of names from a client without a key.
 */
import { fileURLToPath } from 'node:url'
import type { RequestBody } from '../../http/body/receive.ts'
import { encodeRows, type BatchStatement, type Columns, type RowOf } from '../../storage/database/batch.ts'
import type { Tasks } from '../../lib/tasks.ts'
import { splitBy, type WordTrie } from '../../lib/words/index.ts'
import { decodeUtf8 } from '../../lib/bytes.ts'
import { type BodyField, parseBody } from '../../http/body/parse.ts'
import { badParameter, httpErrors, missingParameter } from '../../http/errors.ts'
import { HttpError } from '../../lib/errors.ts'
import { MAX_BATCH_RECORDS, MAX_DNS_NAMES } from '../limits.ts'
import { jsonText, type Parameter } from '../../http/parameters.ts'
import { parseLabel } from '../../lib/domain-names.ts'
import { parseJson, parseJsonText } from '../../lib/json.ts'
import { expectedRow } from '../queries-records.ts'
import { markDomains, recordDomains } from '../queries-batches.ts'
import {
  isDecision,
  MAX_FAULTS,
  parseMarks,
  parseNewRecord,
  type DomainMarks,
  type ParsedRecord,
  type RecordFault,
} from '../parse-record.ts'

/** `data` is missing or not an array of the expected length: the error for the client, as far as a thread can pass it on. */
interface Unreadable {
  readonly kind: 'unreadable'
  readonly error: Pick<HttpError, 'status' | 'code' | 'message' | 'fields'>
}

/** @param status what the endpoint answers instead of 400 */
export const unreadableError = ({ error }: Unreadable, status = error.status): HttpError =>
  new HttpError(status, error.code, error.message, { fields: error.fields })

type Items = { readonly kind: 'items'; readonly items: readonly unknown[] } | Unreadable

/** @template Data the items of the field `data`, or what they were checked to be */
interface ReadBody<Data> {
  /** The API key, if the body carries one. */
  readonly api: string | undefined
  /** The names of its fields. */
  readonly names: readonly string[]
  readonly data: Data
  /** The field `types` of a `dns` request; '' if it is not a text. */
  readonly types?: string | undefined
}

export type Batch =
  | Unreadable
  | {
      readonly kind: 'faulty'
      readonly count: number
      /** The first ones. */
      readonly faults: readonly RecordFault[]
    }
  | {
      readonly kind: 'rows'
      /** What `runMany` takes, each name once. */
      readonly rows: Uint8Array<ArrayBuffer>
      /** The number of rows. */
      readonly count: number
      /** For `update`: the name of every record in the order sent, to report those that are not recorded. */
      readonly names: readonly string[]
      /** For `update`: names of the records that its sender decides on, which ends its claims on them. */
      readonly decided: readonly string[]
      /**
       * For `update`: the expected state of stored records, a JSON array of rows of `expectedRow`; undefined if
       * there is none.
       */
      readonly expected?: string
    }

type Work =
  | { readonly operation: 'look-up' }
  /** `words`: the dictionary that names are split by. */
  | { readonly operation: 'add' | 'update'; readonly words: WordTrie }

type Input = Work & Pick<RequestBody, 'contentType' | 'bytes'>

/** Reads a body whose `data` are names to look up, in another thread. Transfers its bytes there. */
export const readNames = (tasks: Tasks, body: RequestBody): Promise<ReadBody<Items>> =>
  inThread(tasks, body, { operation: 'look-up' })

/** Reads a body whose `data` are records, in another thread. Transfers its bytes there. */
export const readBatch = (
  tasks: Tasks,
  body: RequestBody,
  work: Exclude<Work, { operation: 'look-up' }>,
): Promise<ReadBody<Batch>> => inThread(tasks, body, work)

const inThread = <Data>(tasks: Tasks, { contentType, bytes, client }: RequestBody, work: Work) =>
  tasks.run<Input, ReadBody<Data>>(
    fileURLToPath(import.meta.url),
    { contentType, bytes, ...work },
    { transfer: [bytes.buffer], client },
  )

export default async function parseData(input: Input): Promise<ReadBody<Items | Batch>> {
  if (input.operation === 'look-up') return readData(input, { max: MAX_DNS_NAMES, of: 'nombres' })
  const body = await readData(input, { max: MAX_BATCH_RECORDS, of: 'registros' })
  const { data } = body
  if (data.kind === 'unreadable') return body
  const isAdd = input.operation === 'add'
  return { ...body, data: isAdd ? newRows(data.items, input.words) : markRows(data.items) }
}

function markRows(items: readonly unknown[]): Batch {
  const expected: (string | number | null)[][] = []
  const decided: string[] = []
  const read = (record: unknown, index: number) => {
    const result = parseMarks(record)
    if (!result.ok) return result
    const { row } = result
    if (result.expected !== undefined) expected.push(expectedRow(index, row.name, result.expected))
    if (isDecision(row)) decided.push(row.name)
    return result
  }
  const batch = readAll(items, markDomains, read, merged)
  if (batch.kind !== 'rows') return batch
  return { ...batch, decided, ...(expected.length > 0 && { expected: JSON.stringify(expected) }) }
}

/** Names of fields that are passed on. */
const MAX_NAMES = 100

/** Reads a body whose field `data` is an array, or the JSON text of one, of at most `limit.max` items. */
async function readData(
  body: Pick<RequestBody, 'contentType' | 'bytes'>,
  limit: { readonly max: number; readonly of: string },
): Promise<ReadBody<Items>> {
  const { buffer, byteOffset, byteLength } = body.bytes
  if (byteLength === 0) return { api: undefined, names: [], data: MISSING }
  const fields = await parseBody(body.contentType, Buffer.from(buffer, byteOffset, byteLength))
  if (fields === undefined)
    return { api: undefined, names: [], data: unreadable(httpErrors.unreadable_body()) }
  const api = fields.get('api')
  const data = fields.get('data')
  return {
    api: api?.kind === 'text' ? api.value : undefined,
    // No endpoint has as many: among these there is an unknown one if there are more.
    names: [...fields.keys()].slice(0, MAX_NAMES),
    data: data === undefined ? MISSING : toItems(data, limit),
    types: optionalText(fields.get('types')),
  }
}

/** Returns '' for a field of another type, which no parameter of texts accepts; null in JSON means not set. */
function optionalText(field: BodyField | undefined): string | undefined {
  if (field === undefined || (field.kind === 'json' && field.value === null)) return undefined
  return field.kind === 'text' ? field.value : ''
}

const unreadable = ({ status, code, message, fields }: HttpError): Unreadable => ({
  kind: 'unreadable',
  error: { status, code, message, fields },
})
const badData = (takes: string): Unreadable => unreadable(badParameter('data', takes))
const MISSING = unreadable(missingParameter('data'))

function toItems(field: BodyField, { max, of }: { max: number; of: string }): Items {
  const text =
    field.kind === 'text' ? field.value : field.kind === 'bytes' ? decodeUtf8(field.bytes) : undefined
  if (text?.trim() === '') return badData('está vacío')
  const value = field.kind === 'json' ? field.value : text === undefined ? undefined : parseJsonText(text)
  if (value === undefined) return badData('no es JSON válido')
  if (!Array.isArray(value)) return badData(`debe ser un arreglo de ${of}`)
  if (value.length > max) return badData(`admite ${max} ${of} como máximo`)
  return { kind: 'items', items: value }
}

function newRows(items: readonly unknown[], words: WordTrie): Batch {
  const split = splitBy(words)
  return readAll(
    items,
    recordDomains,
    (record) => parseNewRecord(record, split),
    (_, later) => later,
  )
}

/** @param combined what to store if a name comes more than once */
function readAll<Elements extends Columns, Row extends RowOf<BatchStatement<Columns, Elements>> & Named>(
  records: readonly unknown[],
  statement: BatchStatement<Columns, Elements>,
  read: (record: unknown, index: number) => ParsedRecord<Row>,
  combined: (earlier: Row, later: Row) => Row,
): Batch {
  const names: string[] = []
  const rows = new Map<string, Row>()
  const faults: RecordFault[] = []
  let bad = 0
  for (const [index, record] of records.entries()) {
    const result = read(record, index)
    if (!result.ok) {
      if (++bad <= MAX_FAULTS) faults.push({ index, field: result.field, msg: result.msg })
      continue
    }
    const { row } = result
    if (statement.insert === undefined) names.push(row.name)
    const earlier = rows.get(row.name)
    rows.set(row.name, earlier === undefined ? row : combined(earlier, row))
  }
  if (bad > 0) return { kind: 'faulty', count: bad, faults }
  return { kind: 'rows', rows: encodeRows(statement, rows.values()), count: rows.size, names, decided: [] }
}

interface Named {
  readonly name: string
}

/** Merges two records: the last given value of each mark. */
function merged(earlier: DomainMarks, later: DomainMarks): DomainMarks {
  const given = Object.entries(later).filter(([, value]) => value !== null)
  return { ...earlier, ...Object.fromEntries(given) }
}

/** More than an account can claim: clients may release all that they have ever claimed. */
const MAX_NAMES_OF_RECORDS = 1_000
const TAKES_NAMES = `debe ser un arreglo de nombres de dominio .cl válidos, sin el sufijo, ${MAX_NAMES_OF_RECORDS} como máximo`

/** Names of records: a JSON array, or its text, for an endpoint whose body is small. */
export const namesParameter = (description: string): Parameter<readonly string[]> => ({
  required: false,
  description,
  schema: jsonText({ type: 'array', items: { type: 'string' } }),
  example: '["catalejo","casa"]',
  parse(given) {
    const value = parseJson(given)
    const names = Array.isArray(value) && value.length <= MAX_NAMES_OF_RECORDS ? namesIn(value) : undefined
    return names === undefined ? { takes: TAKES_NAMES } : { value: [...new Set(names)] }
  },
})

/** Returns undefined if an item is not a name. */
function namesIn(items: readonly unknown[]): readonly string[] | undefined {
  const labels = items.map((item) => (typeof item === 'string' ? parseLabel(item) : undefined))
  const names = labels.flatMap((label) => (label?.ok === true ? label.name : []))
  return names.length === items.length ? names : undefined
}
