import { fromCell } from '../../lib/free-text.ts'
import { parseLabel } from '../../lib/domain-names.ts'
import {
  parseExportedRecord,
  parseNewRecord,
  type ExportedDomain,
  type NewDomain,
  type ParsedRecord,
} from '../parse-record.ts'
import { bareName, registryDate, splitCsv, type Layout } from './format.ts'
import type { Completeness } from './lines.ts'
import type { SplitName } from '../words/dictionary.ts'

const INTEGERS = new Set(['length', 'status', 'reserved', 'revision', 'discarded', 'seen'])

/** Returns whether one or more lines are a complete record. */
export function completeness(text: string, { format, separator }: Layout): Completeness {
  if (format === 'ndjson' || format === 'deletions') return 'complete'
  const fields = splitCsv(text, separator)
  return fields === 'open' ? 'open' : fields === undefined ? 'broken' : 'complete'
}

/** What parsing a line needs besides its layout. */
export interface LineContext {
  /** The date of a deletion, which lists do not contain (`YYYY-MM-DD HH:MM:SS`). */
  readonly now: string
  readonly timeZone: string
  readonly split: SplitName
}

/** Parses and checks the record of a line. */
export function parseLine(
  line: string,
  layout: Layout,
  { now, timeZone, split }: LineContext,
): ParsedRecord<NewDomain | ExportedDomain> {
  switch (layout.format) {
    case 'ndjson':
      return parseExportedRecord(parseJson(line), timeZone, split)
    case 'deletions':
      return parseNewRecord(newRecord(line, 0, now), split)
    case 'registrations':
    case 'csv': {
      const fields = splitCsv(line, layout.separator)
      if (!Array.isArray(fields)) return NOT_CSV
      return layout.format === 'csv'
        ? parseExportedRecord(exported(fields, layout.columns), timeZone, split)
        : parseNewRecord(registration(fields, layout.columns), split)
    }
  }
}

const NOT_CSV = { ok: false, field: '', msg: 'La línea no es CSV válido' } as const

function registration(fields: readonly string[], columns: Layout['columns']) {
  const date = fields[columns.get('date') ?? 1]
  return newRecord(
    fields[columns.get('name') ?? 0] ?? '',
    1,
    date === undefined ? date : (registryDate(date) ?? date),
  )
}

function newRecord(text: string, status: 0 | 1, date_reg: string | undefined) {
  const domain = bareName(text)
  const label = parseLabel(domain)
  return { domain, length: label.ok ? label.name.length : 0, reserve: 0, status, date_reg }
}

function exported(fields: readonly string[], columns: Layout['columns']): Record<string, unknown> {
  const record: Record<string, unknown> = {}
  for (const [name, at] of columns) {
    const text = fields[at]
    if (text === undefined) continue
    if (name === 'tags') record[name] = text === '' ? [] : text.split(' ').map(fromCell)
    else if (name === 'note') record[name] = fromCell(text)
    else if (text !== '')
      record[name] = INTEGERS.has(name) && /^\d{1,3}$/.test(text) ? Number(text) : fromCell(text)
  }
  return record
}

/** Returns undefined, which is not a record, if the text is not JSON. A line is too short to nest dangerously deep. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
