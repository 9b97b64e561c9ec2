import { escapeHidden, toCell } from '../lib/text.ts'
import { localDateTime } from '../lib/dates.ts'
import { REQUIRED_FIELDS_OF_EXPORT } from './parse-record.ts'
import {
  listedFields,
  type FieldName,
  type FieldValue,
  type FurtherFields,
  type ListedRecord,
} from './record-fields.ts'

export const EXPORT_FORMATS = ['csv', 'ndjson'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** A record as `list` returns it, then what is needed to import it in the same state. */
const EXPORT_FIELDS = [...REQUIRED_FIELDS_OF_EXPORT, 'deleted_at', 'discarded_at'] as const

type ExportField = (typeof EXPORT_FIELDS)[number]
type ExportedFields = Readonly<Record<string, FieldValue>>

export interface ExportedRecord extends ListedRecord {
  readonly deleted_at: string | null
}

interface Format {
  readonly type: string
  readonly head: (fields: readonly string[]) => string
  readonly line: (record: ExportedFields) => string
}

export const exportFormats: Readonly<Record<ExportFormat, Format>> = {
  csv: {
    type: 'text/csv; charset=utf-8; header=present',
    head: (fields) => `${fields.join(',')}\r\n`,
    line: (record) => `${Object.values(record).map(csvField).join(',')}\r\n`,
  },
  ndjson: {
    type: 'application/x-ndjson',
    head: () => '',
    line: (record) => `${escapeHidden(JSON.stringify(record))}\n`,
  },
}

/** Fields to export besides `EXPORT_FIELDS`, and how to read those of some names. */
export interface FurtherExport {
  readonly fields: readonly FieldName[]
  readonly read: (
    names: readonly string[],
    fields: readonly FieldName[],
  ) => Promise<ReadonlyMap<string, FurtherFields>>
}

/** Serialises all records. Holds one part at a time. */
export async function* exportText(
  parts: AsyncIterable<readonly ExportedRecord[]>,
  format: ExportFormat,
  timeZone: string,
  further?: FurtherExport,
): AsyncGenerator<string> {
  const { head, line } = exportFormats[format]
  const fields = further?.fields.filter((name) => !EXPORT_FIELDS.some((field) => field === name)) ?? []
  const names = head([...EXPORT_FIELDS, ...fields])
  if (names !== '') yield names
  for await (const records of parts) {
    if (further === undefined || fields.length === 0) {
      yield records.map((record) => line(fieldsOf(record, timeZone))).join('')
      continue
    }
    const added = await further.read(
      records.map(({ name }) => name),
      fields,
    )
    yield records
      .map((record) => {
        const more = added.get(record.name)
        // It was deleted since its part was read.
        return more === undefined ? '' : line({ ...fieldsOf(record, timeZone), ...more })
      })
      .join('')
  }
}

function fieldsOf(record: ExportedRecord, timeZone: string): Readonly<Record<ExportField, FieldValue>> {
  const { discarded_at, deleted_at } = record
  return {
    ...listedFields(record),
    deleted_at,
    discarded_at: discarded_at === null ? null : localDateTime(discarded_at, timeZone),
  }
}

/** Returns a text, or the entries of a list or an object with spaces between them: tags, words and keys contain none. */
function textOf(value: Exclude<FieldValue, number | null>): string {
  if (typeof value === 'string') return value
  if (!Array.isArray(value))
    return Object.entries(value)
      .map(([key, one]) => `${key}=${one}`)
      .join(' ')
  const texts = value.map((one) => (typeof one === 'string' ? one : one.text))
  return texts.join(typeof value[0] === 'string' ? ' ' : '; ')
}

/** RFC 4180, section 2. Texts that a spreadsheet would take for a formula are escaped; the import undoes that. */
export function csvField(value: FieldValue): string {
  if (value === null) return ''
  const text = typeof value === 'number' ? String(value) : toCell(textOf(value))
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
