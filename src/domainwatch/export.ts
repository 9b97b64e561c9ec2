import { Readable } from 'node:stream'
import { escapeJson, toCell } from '../lib/free-text.ts'
import type { SqlValue } from '../storage/database/sql.ts'

export const EXPORT_FORMATS = ['csv', 'ndjson'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** A record as `list` shows it, then what is needed to import it in the same state. */
export const EXPORT_FIELDS = [
  'name',
  'length',
  'agent',
  'status',
  'reserved',
  'revision',
  'discarded',
  'date_reg',
  'date_mod',
  'deleted_at',
  'discarded_at',
] as const

type Field = (typeof EXPORT_FIELDS)[number]

interface Format {
  readonly type: string
  readonly head: string
  readonly line: (record: Readonly<Record<Field, SqlValue>>) => string
}

export const exportFormats: Readonly<Record<ExportFormat, Format>> = {
  csv: {
    type: 'text/csv; charset=utf-8; header=present',
    head: `${EXPORT_FIELDS.join(',')}\r\n`,
    line: (record) => `${EXPORT_FIELDS.map((field) => csvField(record[field])).join(',')}\r\n`,
  },
  ndjson: {
    type: 'application/x-ndjson',
    head: '',
    line: (record) => `${escapeJson(JSON.stringify(record))}\n`,
  },
}

/** Serialises all rows (in parts, with the `COLUMNS` of the queries). Holds one part at a time. */
export async function* exportText(
  parts: AsyncIterable<readonly SqlValue[][]>,
  format: ExportFormat,
): AsyncGenerator<string> {
  const { head, line } = exportFormats[format]
  if (head !== '') yield head
  for await (const rows of parts) yield rows.map((row) => line(recordOf(row))).join('')
}

/** The same as a stream that reads one part ahead of its consumer. */
export function exportStream(...of: Parameters<typeof exportText>): Readable {
  return Readable.from(exportText(...of), { highWaterMark: 1 })
}

function recordOf(row: readonly SqlValue[]): Readonly<Record<Field, SqlValue>> {
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
function csvField(value: SqlValue): string {
  if (value === null) return ''
  const text = typeof value === 'string' ? toCell(value) : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
