import { escapeHidden, toCell } from '../lib/free-text.ts'
import type { SqlValue } from '../storage/database/sql.ts'
import { REQUIRED_FIELDS_OF_EXPORT } from './parse-record.ts'
import type { FieldName, FieldValue, FurtherFields } from './record-fields.ts'

export const EXPORT_FORMATS = ['csv', 'ndjson'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** A record as `list` returns it, then what is needed to import it in the same state. */
const EXPORT_FIELDS = [...REQUIRED_FIELDS_OF_EXPORT, 'deleted_at', 'discarded_at'] as const

type ExportField = (typeof EXPORT_FIELDS)[number]
type ExportedRecord = Readonly<Record<string, SqlValue | FieldValue>>

interface Format {
  readonly type: string
  readonly head: (fields: readonly string[]) => string
  readonly line: (record: ExportedRecord) => string
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

/** Serialises all rows (in parts, with the `COLUMNS` of the queries). Holds one part at a time. */
export async function* exportText(
  parts: AsyncIterable<readonly SqlValue[][]>,
  format: ExportFormat,
  further?: FurtherExport,
): AsyncGenerator<string> {
  const { head, line } = exportFormats[format]
  const fields = further?.fields.filter((name) => !EXPORT_FIELDS.some((field) => field === name)) ?? []
  const names = head([...EXPORT_FIELDS, ...fields])
  if (names !== '') yield names
  for await (const rows of parts) {
    if (further === undefined || fields.length === 0) {
      yield rows.map((row) => line(recordOf(row))).join('')
      continue
    }
    const names = rows.map(([name]) => String(name))
    const added = await further.read(names, fields)
    yield rows
      .map((row) => {
        const record = recordOf(row)
        const more = added.get(String(record.name))
        // It was deleted since its part was read.
        return more === undefined ? '' : line({ ...record, ...more })
      })
      .join('')
  }
}

function recordOf(row: readonly SqlValue[]): Readonly<Record<ExportField, SqlValue>> {
  const [name = '', length = 0, agent = '', status = 0, reserved = 0, revision = 0, ...dates] = row
  const [discardedAt = null, date_reg = '', date_mod = '', deleted_at = null] = dates
  return {
    name,
    length,
    agent,
    status,
    reserved,
    revision,
    discarded: discardedAt === null ? 0 : 1,
    date_reg,
    date_mod,
    deleted_at,
    discarded_at: discardedAt === null ? null : new Date(Number(discardedAt)).toISOString(),
  }
}

/** RFC 4180, section 2. Texts that a spreadsheet would take for a formula are escaped; the import undoes that. */
function csvField(value: SqlValue | FieldValue): string {
  if (value === null) return ''
  // Tags contain no space.
  const given = Array.isArray(value) ? value.join(' ') : value
  const text = typeof given === 'string' ? toCell(given) : String(given)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
