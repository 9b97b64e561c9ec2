import { toEpoch, isCalendarDateTime, localDateTime } from '../../lib/dates.ts'
import { fromCell } from '../../lib/text.ts'
import { parseJson } from '../../lib/json.ts'
import { parseLabel } from '../../lib/domain-names.ts'
import { rowValues } from '../../storage/database/batch.ts'
import {
  REQUIRED_FIELDS_OF_EXPORT,
  parseDismissed,
  parseExportedRecord,
  parseNewRecord,
  type ExportedDomain,
  type NewDomain,
  type ParsedRecord,
} from '../parse-record.ts'
import { DISMISSED_FIELDS } from '../queries-dismissed.ts'
import { isNumberKey, MAX_NUMBER_KEYS, parseDecimal, TAKES_DECIMAL, TAKES_NUMBER_KEY } from '../numbers.ts'
import { restoreDomains } from '../queries-batches.ts'
import type { ListedRow, ListKind } from '../registry/rules.ts'
import type { SplitName } from '../words.ts'
import type { Completeness } from './source.ts'

/** What a feed may contain. */
export const FEED_FORMATS = ['registrations', 'deletions', 'csv', 'ndjson'] as const
/** What members may import over HTTP. */
export const MEMBER_FORMATS = [...FEED_FORMATS, 'numbers'] as const
export const IMPORT_FORMATS = [...MEMBER_FORMATS, 'dismissed'] as const

/**
 * What a file contains: the registry's CSV of registrations (names and dates), its plain list of deletions (one name per
 * line), our own export as CSV or NDJSON, numbers of names as CSV (`name,key,number`), or what `catalejo dismissed list` prints.
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

const NUMBER_FIELDS = ['name', 'key', 'number']
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
export function toLayout(sample: readonly string[], format?: ImportFormat): Layout | undefined {
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
  if (DISMISSED_FIELDS.every((field) => own.has(field))) {
    return format === undefined || format === 'dismissed'
      ? { format: 'dismissed', separator, columns: own, hasHeader: true }
      : undefined
  }
  if (format === 'numbers' || (format === undefined && NUMBER_FIELDS.every((field) => own.has(field)))) {
    const hasHeader = NUMBER_FIELDS.every((field) => own.has(field))
    const columns = hasHeader ? own : new Map(NUMBER_FIELDS.map((field, i) => [field, i]))
    return { format: 'numbers', separator, columns, hasHeader }
  }
  if (format !== 'registrations' && REQUIRED_FIELDS_OF_EXPORT.every((field) => own.has(field))) {
    return { format: 'csv', separator, columns: own, hasHeader: true }
  }
  if (format === 'csv' || format === 'dismissed') return undefined
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

/** The first and the last `YYYY-MM-DD HH:MM:SS` that a date can mean, which are equal if it has the time. */
interface RegistryDate {
  readonly from: string
  readonly to: string
  /** What its clock is ahead of UTC; undefined if that follows from the time zone of the list. */
  readonly offsetMs?: number
}

const DATE = /^(?:(\d{4})-(\d\d)-(\d\d)|(\d\d)[-/](\d\d)[-/](\d{4}))(?:[ T](.+))?$/i
const TIME = /^(\d\d:\d\d)(?:(:\d\d)(?:[.,]\d{1,9})?)?(?: ?(?:Z|([+-])(\d\d):?([0-5]\d)?))?$/i

/**
 * Reads a date as the registry and spreadsheets write it, or of ISO 8601: it may lack the time. Fractions of a second are dropped.
 * Undefined if it is not a date.
 */
export function registryDate(text: string): RegistryDate | undefined {
  const match = DATE.exec(text.trim())
  if (match === null) return undefined
  const [, year = match[6], month = match[5], day = match[4]] = match
  const clock = match[7]
  const at = (time: string) => `${year}-${month}-${day} ${time}`
  if (clock === undefined) return { from: at('00:00:00'), to: at('23:59:59') }
  const time = TIME.exec(clock)
  if (time === null) return undefined
  const [, minute, seconds = ':00', sign, hours = '0', minutes = '0'] = time
  const moment = at(`${minute}${seconds}`)
  const hasOffset = sign !== undefined || /z$/i.test(clock)
  const offsetMs = Number(`${sign ?? ''}1`) * (Number(hours) * 60 + Number(minutes)) * 60_000
  return { from: moment, to: moment, ...(hasOffset && { offsetMs }) }
}

/** Returns the name without suffix and surrounding blanks. */
export function bareName(text: string): string {
  return text.trim().replace(/\.cl\.?$/i, '')
}

/**
 * Returns the fields of one line of CSV (RFC 4180); `open` if a quoted field does not end on it, undefined if the line is
 * not valid CSV. Works line by line, because a parser of whole files reads everything after an unbalanced quote as one
 * field, and here a broken line must not lose others.
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

const INTEGERS = new Set([
  'length',
  'status',
  'reserved',
  'revision',
  'discarded',
  'seen',
  'date_reg_known',
  'past_drops',
])

/** Returns whether one or more lines are a complete record. */
export function completeness(text: string, { format, separator }: Layout): Completeness {
  if (format === 'ndjson' || format === 'deletions') return 'complete'
  const fields = splitCsv(text, separator)
  return fields === 'open' ? 'open' : fields === undefined ? 'broken' : 'complete'
}

/** What parsing a line needs besides its layout. */
export interface LineContext {
  /** The local time, and the latest that a registration may have. */
  readonly now: string
  readonly latest: string
  readonly timeZone: string
  /** The time zone of dates in lists; that of the service unless given. */
  readonly zone?: string | undefined
  readonly split: SplitName
  /** Whether exports restore whole records. Otherwise they tell registrations and deletions, as lists of the registry do. */
  readonly restores: boolean
  /** The keys of imported numbers, to which new ones are added. */
  readonly numberKeys?: Set<string> | undefined
}

/** A valid line: the values to store, of the statement `restoreDomains` or of a `ListedRow`. */
export type ParsedLine =
  | { readonly ok: true; readonly name: string; readonly values: readonly (string | number | null)[] }
  | { readonly ok: false; readonly msg: string }

/** Which list of the registry a format is. Undefined for what restores records or dismissed names. */
export function listKind(format: ImportFormat, restores: boolean): ListKind | undefined {
  if (format === 'deletions' || format === 'registrations') return format
  return restores || format === 'dismissed' || format === 'numbers' ? undefined : 'registrations'
}

/** Parses and checks the record of a line. */
export function parseLine(line: string, layout: Layout, context: LineContext): ParsedLine {
  const { timeZone, split } = context
  switch (layout.format) {
    case 'ndjson': {
      // A line is too short to nest dangerously deep.
      const record = parseJson(line)
      return record === undefined
        ? NOT_JSON
        : exportLine(parseExportedRecord(record, timeZone, split), context)
    }
    case 'deletions':
      // A server that fails may write its error into the list. The domain of that name has a suffix.
      if (/^error$/i.test(line.trim())) return NOT_A_NAME
      return listLine(parseNewRecord(newRecord(line, 0, DATED), split), null)
    case 'registrations':
    case 'dismissed':
    case 'numbers':
    case 'csv': {
      const fields = splitCsv(line, layout.separator)
      if (!Array.isArray(fields)) return NOT_CSV
      if (layout.format === 'dismissed') return dismissedLine(exported(fields, layout.columns))
      if (layout.format === 'numbers') return numberLine(fields, layout.columns, context)
      return layout.format === 'csv'
        ? exportLine(parseExportedRecord(exported(fields, layout.columns), timeZone, split), context)
        : registrationLine(fields, layout.columns, context)
    }
  }
}

const NOT_JSON = { ok: false, msg: 'La línea no es JSON válido' } as const
const NOT_CSV = { ok: false, msg: 'La línea no es CSV válido' } as const
const NOT_A_NAME = { ok: false, msg: 'La línea es un error del servidor, no un dominio' } as const
const TOO_MANY_KEYS = {
  ok: false,
  msg: `El campo key no es una de las ${MAX_NUMBER_KEYS} claves que ya hay`,
} as const
const FUTURE = { ok: false, msg: 'La fecha de inscripción está más de un día en el futuro' } as const
/** Any valid date: a list of deletions has none. */
const DATED = '2000-01-01 00:00:00'
function exportLine(read: ParsedRecord<ExportedDomain>, context: LineContext): ParsedLine {
  if (!read.ok) return read
  const { row } = read
  if (context.restores) return { ok: true, name: row.name, values: rowValues(restoreDomains, row) }
  const { status, date_reg, date_reg_known, released_at } = row
  const date = inServiceZone(date_reg ?? '', context)
  const deletedAt = status === 1 ? null : inServiceZone(released_at ?? date_reg ?? '', context)
  return listLine(read, date_reg_known === 0 ? null : { from: date, to: date }, deletedAt)
}

function dismissedLine(record: Readonly<Record<string, unknown>>): ParsedLine {
  const read = parseDismissed(record)
  return read.ok ? { ok: true, name: read.row[0], values: read.row } : read
}

function numberLine(
  fields: readonly string[],
  columns: Layout['columns'],
  { split, numberKeys = new Set() }: LineContext,
): ParsedLine {
  const [name, key, text] = NUMBER_FIELDS.map((field) => fields[columns.get(field) ?? -1]?.trim())
  const read = parseNewRecord(newRecord(name ?? '', 0, DATED), split)
  if (!read.ok) return listFault(read)
  const folded = key?.toLowerCase() ?? ''
  if (!isNumberKey(folded)) return { ok: false, msg: `El campo key ${TAKES_NUMBER_KEY}` }
  // An empty one removes the number.
  const number = text === '' ? null : parseDecimal(text ?? '')
  if (number === undefined) return { ok: false, msg: `El campo number ${TAKES_DECIMAL}` }
  if (number !== null) {
    if (!numberKeys.has(folded) && numberKeys.size >= MAX_NUMBER_KEYS) return TOO_MANY_KEYS
    numberKeys.add(folded)
  }
  return { ok: true, name: `${read.row.name} ${folded}`, values: [read.row.name, folded, number] }
}

function registrationLine(
  fields: readonly string[],
  columns: Layout['columns'],
  context: LineContext,
): ParsedLine {
  const text = fields[columns.get('date') ?? 1]
  const date = text === undefined ? undefined : registryDate(text)
  const name = fields[columns.get('name') ?? 0] ?? ''
  const read = parseNewRecord(newRecord(name, 1, date?.to ?? text), context.split)
  if (!read.ok || date === undefined) return listLine(read, null)
  const from = inServiceZone(date.from, context, date.offsetMs)
  const to = date.from === date.to ? from : inServiceZone(date.to, context)
  if (from > context.latest) return FUTURE
  if (date.from === date.to || to < context.now) return listLine(read, { from, to })
  // Registered by now, whatever the time.
  return listLine(read, { from: from < context.now ? from : context.now, to: context.now })
}

/**
 * A time that the clocks of the zone repeat means the later one.
 * @param offsetMs what the clock that showed it was ahead of UTC, if that is known
 */
function inServiceZone(text: string, { timeZone, zone = timeZone }: LineContext, offsetMs?: number): string {
  if (!isCalendarDateTime(text)) return text
  if (offsetMs !== undefined) return localDateTime(toEpoch(text, 'UTC') - offsetMs, timeZone)
  return zone === timeZone ? text : localDateTime(toEpoch(text, zone, 'last'), timeZone)
}

/** Says what is wrong with a line of a list, which has no names of fields. */
const listFault = ({ field, msg }: { readonly field: string; readonly msg: string }): ParsedLine => ({
  ok: false,
  msg: LIST_FAULTS[field] ?? msg,
})

const LIST_FAULTS: Readonly<Record<string, string>> = {
  domain: 'El nombre no es un dominio .cl válido',
  date_reg: 'La fecha de inscripción no es válida',
}

function listLine(
  read: ParsedRecord<NewDomain | ExportedDomain>,
  registration: { readonly from: string; readonly to: string } | null,
  deletedAt: string | null = null,
): ParsedLine {
  if (!read.ok) return listFault(read)
  const { name, ascii, length, words } = read.row
  const { from = null, to = null } = registration ?? {}
  const values: ListedRow = [name, ascii, length ?? name.length, words, from, to, deletedAt]
  return { ok: true, name, values }
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
