import {
  REQUIRED_FIELDS_OF_EXPORT,
  parseExportedRecord,
  parseNewRecord,
  type ExportedDomain,
  type NewDomain,
  type ParsedRecord,
} from '../parse-record.ts'
import { fromCell } from '../../lib/free-text.ts'
import { parseJson } from '../../lib/json.ts'
import { parseLabel } from '../../lib/domain-names.ts'
import type { Completeness } from './lines.ts'
import type { SplitName } from '../words/dictionary.ts'

export const IMPORT_FORMATS = ['registrations', 'deletions', 'csv', 'ndjson'] as const

/**
 * What a file contains: the registry's CSV of registrations (names and dates), its plain list of deletions (one name per
 * line), or our own export as CSV or NDJSON.
 */
export type ImportFormat = (typeof IMPORT_FORMATS)[number]

/** How to parse the lines of a file. */
export interface Layout {
  readonly format: ImportFormat
  readonly separator: string
  /** Position of each field in a line. Empty for `ndjson` and `deletions`. */
  readonly columns: ReadonlyMap<string, number>
  /** Whether the first line names the columns. */
  readonly hasHeader: boolean
}

const NAME_COLUMN = /nombre|dominio|domain|name/i
const DATE_COLUMN = /fecha|date/i

/** One line identifies every format except a list of names, which has no header. */
export const SAMPLE_LINES = 20
/** No header and no name contains them: the file has other line ends, or is not text. */
const CONTROLS = /[^\P{Cc}\t]/u
const LIKE_A_NAME = /^[\p{L}\p{M}\p{N} "._-]+$/u

/**
 * Detects the layout from the first lines that are not blank, up to `SAMPLE_LINES` of them. A list of registrations may lack
 * a header.
 * @param format if the caller knows it
 * @returns undefined if the format is unknown
 */
export function layoutOf(sample: readonly string[], format?: ImportFormat): Layout | undefined {
  const first = sample[0]?.trim() ?? ''
  const separator = [',', ';', '\t'].find((each) => first.includes(each)) ?? ','
  const plain = (kind: ImportFormat, hasHeader = false): Layout => ({
    format: kind,
    separator,
    columns: new Map(),
    hasHeader,
  })
  const registrations = (name: number, date: number, hasHeader: boolean): Layout => {
    return { format: 'registrations', separator, columns: new Map(Object.entries({ name, date })), hasHeader }
  }
  // A single word could be a domain.
  const namesColumn = NAME_COLUMN.test(first) && /^[\p{L} ]+$/u.test(first) && first.includes(' ')
  if (format === 'ndjson' || (format === undefined && first.startsWith('{'))) return plain('ndjson')
  if (format === 'deletions') return plain('deletions', namesColumn)

  const fields = splitCsv(first, separator)
  if (!Array.isArray(fields) || CONTROLS.test(first)) return undefined
  const heads = fields.map((field) => field.trim())
  const own = new Map(heads.map((head, i) => [head, i] as const))
  if (format !== 'registrations' && REQUIRED_FIELDS_OF_EXPORT.every((field) => own.has(field))) {
    return { format: 'csv', separator, columns: own, hasHeader: true }
  }
  if (format === 'csv') return undefined
  const name = heads.findIndex((head) => NAME_COLUMN.test(head) && !head.includes('.'))
  const date = heads.findIndex((head) => DATE_COLUMN.test(head))
  if (name !== -1 && date !== -1 && name !== date) {
    return registrations(name, date, true)
  }
  if (fields.length > 1) {
    return registryDate(heads[1] ?? '') === undefined ? undefined : registrations(0, 1, false)
  }
  // An error page sent instead of the list has lines of one word too.
  const likely = sample.filter((line) => LIKE_A_NAME.test(line.trim())).length * 2 >= sample.length
  return format === undefined && likely ? plain('deletions', namesColumn) : undefined
}

/** Converts a date as the registry and spreadsheets write it to `YYYY-MM-DD HH:MM:SS`. Undefined if it is not a date. */
export function registryDate(text: string): string | undefined {
  const match = /^(?:(\d{4})-(\d\d)-(\d\d)|(\d\d)[-/](\d\d)[-/](\d{4}))(?:[ T](\d\d:\d\d)(:\d\d)?)?$/.exec(
    text.trim(),
  )
  if (match === null) return undefined
  const [, year = match[6], month = match[5], day = match[4]] = match
  const [time = '00:00', seconds = ':00'] = match.slice(7)
  return `${year}-${month}-${day} ${time}${seconds}`
}

/** Returns the name without suffix and surrounding blanks. */
export function bareName(text: string): string {
  return text.trim().replace(/\.cl\.?$/i, '')
}

/**
 * Returns the fields of one line of CSV (RFC 4180); `open` if a quoted field does not end on it, undefined if the line is
 * not valid CSV. Works line by line, because a parser of whole files reads everything after an unbalanced quote as one
 * field, and here a broken line must not lose others (decision 037).
 */
export function splitCsv(line: string, separator: string): string[] | 'open' | undefined {
  const fields: string[] = []
  let at = 0
  for (;;) {
    if (line[at] === '"') {
      let text = ''
      let end = line.indexOf('"', at + 1)
      while (end !== -1 && line[end + 1] === '"') {
        text += line.slice(at + 1, end + 1)
        at = end + 1
        end = line.indexOf('"', at + 1)
      }
      if (end === -1) return 'open'
      fields.push(text + line.slice(at + 1, end))
      at = end + 1
      if (at < line.length && line[at] !== separator) return undefined
    } else {
      const end = line.indexOf(separator, at)
      const field = line.slice(at, end === -1 ? undefined : end)
      if (field.includes('"')) return undefined
      fields.push(field)
      at = end === -1 ? line.length : end
    }
    if (at >= line.length) return fields
    at++
    if (at === line.length) {
      fields.push('')
      return fields
    }
  }
}

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
      // A line is too short to nest dangerously deep.
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
