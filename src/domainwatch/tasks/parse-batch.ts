/**
 * Worker task: reads and checks the body of `add` or `update`. A batch of 50,000 records takes some hundred milliseconds,
 * which must not block the event loop.
 */
import { encodeRows, type BatchStatement, type Columns, type RowOf } from '../../storage/database/batch.ts'
import { splitBy, type WordTrie } from '../../lib/words/index.ts'
import { readData, type Unreadable } from './data-field.ts'
import { MAX_BATCH_RECORDS } from '../limits.ts'
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

export interface Input {
  readonly contentType: string | undefined
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly operation: 'add' | 'update'
  /** The dictionary that names are split by. */
  readonly words: WordTrie
}

export interface Output {
  /** The API key, if the body carries it. */
  readonly api: string | undefined
  /** The names of the body's fields. */
  readonly names: readonly string[]
  readonly batch: Batch
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

export default async function parseBatch(input: Input): Promise<Output> {
  const { data, ...head } = await readData(input, { max: MAX_BATCH_RECORDS, of: 'registros' })
  if (data.kind === 'unreadable') return { ...head, batch: data }
  const { items } = data
  if (input.operation === 'add') return { ...head, batch: newRows(items, input.words) }
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
  if (batch.kind !== 'rows') return { ...head, batch }
  const isConditional = expected.length > 0
  return {
    ...head,
    batch: { ...batch, decided, ...(isConditional && { expected: JSON.stringify(expected) }) },
  }
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
