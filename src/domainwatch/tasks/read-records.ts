/**
 * Task for another thread: the body of `add` or `update` to rows that are ready to be stored. A batch of
 * 50,000 takes some hundred milliseconds, which must not hold the event loop.
 */
import { decodeUtf8 } from '../../core/text.ts'
import type { BodyField } from '../../http/body/fields.ts'
import { parseJsonText } from '../../http/body/json.ts'
import { parseBody } from '../../http/body/parse.ts'
import {
  countOfFaults,
  MAX_FAULTS,
  readMarks,
  readNewRecord,
  type ReadRecord,
  type RecordFault,
  type Row,
} from '../records.ts'

export const MAX_RECORDS = 50_000

export interface Input {
  readonly contentType: string | undefined
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly operation: 'add' | 'update'
}

export interface Output {
  /** The key, where the body carries it. */
  readonly api: string | undefined
  readonly batch: Batch
}

export type Batch =
  /** `data` is not an array of records at all. */
  | { readonly kind: 'unreadable'; readonly msg: string }
  | { readonly kind: 'faulty'; readonly msg: string; readonly faults: readonly RecordFault[] }
  | {
      readonly kind: 'rows'
      /** A JSON array of rows (UTF-8), each name once. */
      readonly rows: Uint8Array<ArrayBuffer>
      /** How many rows that is. */
      readonly count: number
      /** For `update`: the name of every record as it was sent, to tell which one is not recorded. */
      readonly names: readonly string[]
    }

const unreadable = (msg: string) => ({ kind: 'unreadable', msg }) as const
const MISSING = unreadable('Falta el parámetro data')

export default function readRecords(input: Input): Output {
  if (input.bytes.byteLength === 0) return { api: undefined, batch: MISSING }
  const parsed = parseBody(input.contentType, Buffer.from(input.bytes.buffer))
  if (!parsed.ok) return { api: undefined, batch: unreadable('El cuerpo de la solicitud no se puede leer') }
  const api = parsed.fields.get('api')
  const data = parsed.fields.get('data')
  return {
    api: api?.kind === 'text' ? api.value : undefined,
    batch: data === undefined ? MISSING : readBatch(data, input.operation),
  }
}

function readBatch(field: BodyField, operation: Input['operation']): Batch {
  const data = valueOf(field)
  if (data.kind === 'unreadable') return data
  if (!Array.isArray(data.value)) return unreadable('El parámetro data debe ser un arreglo de registros')
  if (data.value.length > MAX_RECORDS) {
    return unreadable(`El parámetro data admite ${MAX_RECORDS} registros como máximo`)
  }
  return operation === 'add'
    ? readAll(data.value, readNewRecord, 'last')
    : readAll(data.value, readMarks, 'merged')
}

/** @param same what counts of one name's several records: the last, or each field's last that is given */
function readAll(
  records: readonly unknown[],
  read: (record: unknown) => ReadRecord,
  same: 'last' | 'merged',
): Batch {
  const names: string[] = []
  const rows = new Map<string, Row>()
  const faults: RecordFault[] = []
  let bad = 0
  for (const [index, record] of records.entries()) {
    const result = read(record)
    if (!result.ok) {
      if (++bad <= MAX_FAULTS) faults.push({ index, field: result.field, msg: result.msg })
    } else {
      if (same === 'last') rows.set(result.name, result.row)
      else {
        names.push(result.name)
        rows.set(result.name, merge(rows.get(result.name), result.row))
      }
    }
  }
  if (bad > 0) {
    return { kind: 'faulty', msg: countOfFaults(bad), faults }
  }
  const json = Buffer.from(JSON.stringify([...rows.values()]))
  return { kind: 'rows', rows: new Uint8Array(json), count: rows.size, names }
}

function merge(earlier: Row | undefined, later: Row): Row {
  return earlier === undefined ? later : later.map((value, i) => value ?? earlier[i] ?? null)
}

function valueOf(
  field: BodyField,
): { kind: 'json'; value: unknown } | Extract<Batch, { kind: 'unreadable' }> {
  if (field.kind === 'json') return field
  const text =
    field.kind === 'text' ? field.value : field.kind === 'bytes' ? decodeUtf8(field.bytes) : undefined
  if (text?.trim() === '') return unreadable('El parámetro data está vacío')
  const parsed = text === undefined ? undefined : parseJsonText(text)
  return parsed?.ok === true
    ? { kind: 'json', value: parsed.value }
    : unreadable('El parámetro data no es JSON válido')
}
