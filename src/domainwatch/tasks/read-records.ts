/**
 * Task for another thread: the body of `add` or `update` to rows that are ready to be stored. A batch of
 * 50,000 takes some hundred milliseconds, which must not hold the event loop.
 */
import { readData, type Unreadable } from '../data-field.ts'
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
  | Unreadable
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

export default function readRecords(input: Input): Output {
  const { api, data } = readData(input, { max: MAX_RECORDS, of: 'registros' })
  if (data.kind === 'unreadable') return { api, batch: data }
  const { items } = data
  return {
    api,
    batch:
      input.operation === 'add' ? readAll(items, readNewRecord, 'last') : readAll(items, readMarks, 'merged'),
  }
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
