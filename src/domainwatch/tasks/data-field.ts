import { fileURLToPath } from 'node:url'
import type { RequestBody } from '../../http/body/receive.ts'
import type { Tasks } from '../../lib/tasks.ts'
import { decodeUtf8 } from '../../lib/bytes.ts'
import { type BodyField, parseBody } from '../../http/body/parse.ts'
import { badParameter, httpErrors, missingParameter } from '../../http/errors.ts'
import { HttpError } from '../../lib/errors.ts'
import { MAX_DNS_NAMES } from '../limits.ts'
import { jsonText, type Parameter } from '../../http/parameters.ts'
import { parseLabel } from '../../lib/domain-names.ts'
import { parseJson, parseJsonText } from '../../lib/json.ts'

/** `data` is missing or not an array of the expected length: the error for the client, as far as a thread can pass it on. */
export interface Unreadable {
  readonly kind: 'unreadable'
  readonly error: Pick<HttpError, 'status' | 'code' | 'message' | 'fields'>
}

/** @param status what the endpoint answers instead of 400 */
export const unreadableError = ({ error }: Unreadable, status = error.status): HttpError =>
  new HttpError(status, error.code, error.message, { fields: error.fields })

type Data = { readonly kind: 'items'; readonly items: readonly unknown[] } | Unreadable

export interface DataBody {
  /** The API key, if the body carries one. */
  readonly api: string | undefined
  /** The names of its fields. */
  readonly names: readonly string[]
  readonly data: Data
  /** The field `types` of a `dns` request; '' if it is not a text. */
  readonly types?: string | undefined
}

/** Names of fields that are passed on. */
const MAX_NAMES = 100

/** Reads a body whose field `data` is an array, or the JSON text of one, of at most `limit.max` items. */
export async function readData(
  body: { readonly contentType: string | undefined; readonly bytes: Uint8Array },
  limit: { readonly max: number; readonly of: string },
): Promise<DataBody> {
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

function toItems(field: BodyField, { max, of }: { max: number; of: string }): Data {
  const text =
    field.kind === 'text' ? field.value : field.kind === 'bytes' ? decodeUtf8(field.bytes) : undefined
  if (text?.trim() === '') return badData('está vacío')
  const value = field.kind === 'json' ? field.value : text === undefined ? undefined : parseJsonText(text)
  if (value === undefined) return badData('no es JSON válido')
  if (!Array.isArray(value)) return badData(`debe ser un arreglo de ${of}`)
  if (value.length > max) return badData(`admite ${max} ${of} como máximo`)
  return { kind: 'items', items: value }
}

/** Reads the body of a request in another thread. Transfers its bytes there. */
export const readInThread = (tasks: Tasks, { contentType, bytes, client }: RequestBody): Promise<DataBody> =>
  tasks.run<Input, DataBody>(
    fileURLToPath(import.meta.url),
    { contentType, bytes },
    { transfer: [bytes.buffer], client },
  )

interface Input {
  readonly contentType: string | undefined
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** Worker-thread task: parses a list of names, so that clients without a key cannot block the event loop. */
export default function parseNames(input: Input): Promise<DataBody> {
  return readData(input, { max: MAX_DNS_NAMES, of: 'nombres' })
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
