import { EXPORT_FIELDS } from '../export.ts'
import { splitCsv } from './csv.ts'

export const IMPORT_FORMATS = ['registrations', 'deletions', 'csv', 'ndjson'] as const

/**
 * What a file holds: the registry's CSV of registrations (a name and a date), its plain list of deletions (a name a line),
 * or our own export as CSV or NDJSON.
 */
export type ImportFormat = (typeof IMPORT_FORMATS)[number]

/** How the lines of a file are taken apart: the same for all of them. */
export interface Layout {
  readonly format: ImportFormat
  readonly separator: string
  /** Where a field stands in a line; of `ndjson` and `deletions` nothing. */
  readonly columns: ReadonlyMap<string, number>
  /** Whether the first line names the columns. */
  readonly hasHead: boolean
}

const NAME_COLUMN = /nombre|dominio|domain|name/i
const DATE_COLUMN = /fecha|date/i

/** The first line alone tells the layout; only a list of names begins with nothing of its own. */
export const SAMPLE_LINES = 20
/** What no line has that names a column or a domain: a file with other line ends, or none of text. */
const CONTROLS = /[^\P{Cc}\t]/u
const LIKE_A_NAME = /^[\p{L}\p{M}\p{N} "._-]+$/u

/**
 * Tells the layout from the first lines that are not blank, up to `SAMPLE_LINES` of them.
 * @param format where the caller knows; a file of the registry's registrations may come without a head line
 */
export function layoutOf(sample: readonly string[], format?: ImportFormat): Layout | undefined {
  const first = sample[0]?.trim() ?? ''
  const separator = [',', ';', '\t'].find((each) => first.includes(each)) ?? ','
  const plain = (kind: ImportFormat, hasHead = false) => ({
    format: kind,
    separator,
    columns: new Map<string, number>(),
    hasHead,
  })
  // Of one word nobody could tell whether it is a domain.
  const namesColumn = NAME_COLUMN.test(first) && /^[\p{L} ]+$/u.test(first) && first.includes(' ')
  if (format === 'ndjson' || (format === undefined && first.startsWith('{'))) return plain('ndjson')
  if (format === 'deletions') return plain('deletions', namesColumn)

  const fields = splitCsv(first, separator)
  if (!Array.isArray(fields) || CONTROLS.test(first)) return undefined
  const heads = fields.map((field) => field.trim())
  const own = new Map(heads.map((head, i) => [head, i] as const))
  if (format !== 'registrations' && EXPORT_FIELDS.every((field) => own.has(field))) {
    return { format: 'csv', separator, columns: own, hasHead: true }
  }
  if (format === 'csv') return undefined
  const name = heads.findIndex((head) => NAME_COLUMN.test(head) && !head.includes('.'))
  const date = heads.findIndex((head) => DATE_COLUMN.test(head))
  if (name !== -1 && date !== -1 && name !== date) {
    const columns = new Map([
      ['name', name],
      ['date', date],
    ])
    return { format: 'registrations', separator, columns, hasHead: true }
  }
  if (fields.length > 1) {
    const columns = new Map([
      ['name', 0],
      ['date', 1],
    ])
    return registryDate(heads[1] ?? '') === undefined
      ? undefined
      : { format: 'registrations', separator, columns, hasHead: false }
  }
  // A page that a server sent instead of the list has lines of one word too.
  const likely = sample.filter((line) => LIKE_A_NAME.test(line.trim())).length * 2 >= sample.length
  return format === undefined && likely ? plain('deletions', namesColumn) : undefined
}

/** A date as the registry and spreadsheets write it, in the form that records have; undefined when it is none. */
export function registryDate(text: string): string | undefined {
  const match = /^(?:(\d{4})-(\d\d)-(\d\d)|(\d\d)[-/](\d\d)[-/](\d{4}))(?:[ T](\d\d:\d\d)(:\d\d)?)?$/.exec(
    text.trim(),
  )
  if (match === null) return undefined
  const [, year = match[6], month = match[5], day = match[4]] = match
  const [time = '00:00', seconds = ':00'] = match.slice(7)
  return `${year}-${month}-${day} ${time}${seconds}`
}

/** A name as lists write it: with the suffix, in any case, with blanks around it. */
export function bareName(text: string): string {
  return text.trim().replace(/\.cl\.?$/i, '')
}
