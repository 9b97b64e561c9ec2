import { parseDate } from './dates.ts'
import { parseName } from './parse-name.ts'
import { UnreadableFile } from './decode-text.ts'

export const SEPARATORS = [',', ';', '\t', '|'] as const
export type Separator = (typeof SEPARATORS)[number]

/** How to split the lines of a list. */
export interface Layout {
  readonly kind: 'registrations' | 'deletions'
  readonly separator: Separator
  readonly name: number
  /** Undefined in a list of deletions. */
  readonly date: number | undefined
  /** Columns of our own export. */
  readonly status: number | undefined
  readonly reserved: number | undefined
  /** The names of the columns, if the first line is a header. */
  readonly head: readonly string[] | undefined
}

const NAME_HEAD = /nombre|dominio|domain|name/i
const DATE_HEAD = /fecha|date/i
const REGISTERED_HEAD = /inscri|regist|date_reg|crea/i
const DELETED_HEAD = /elimin|borra|baja|delet/i
const LONE_HEADS = new Set(['nombre', 'dominio', 'dominios', 'domain', 'domains', 'name'])

/** Detected from the first lines that are not blank. */
export const SAMPLE_LINES = 50

/** @throws UnreadableFile if the lines have several columns but no dates */
export function layoutOf(sample: readonly string[]): Layout {
  const separator = separatorOf(sample)
  const rows = sample.map((line) => fieldsOf(line, separator))
  const [first = [], ...others] = rows
  const plain = { separator, status: undefined, reserved: undefined }
  if (isHead(first, others)) {
    const head = first.map((cell) => cell.trim())
    const columns = headColumns(head)
    if (columns.name !== undefined && (columns.date !== undefined || head.length === 1)) {
      const isDeleted = columns.date === undefined || DELETED_HEAD.test(head[columns.date] ?? '')
      const { name } = columns
      if (isDeleted) return { ...plain, kind: 'deletions', name, date: undefined, head }
      return { ...plain, ...columns, kind: 'registrations', name, head }
    }
    throw new UnreadableFile('import.noDates')
  }
  const date = columnWhere(rows, (cell) => parseDate(cell) !== undefined)
  const name = columnWhere(rows, (cell, column) => column !== date && 'name' in parseName(cell))
  if (date !== undefined)
    return { ...plain, kind: 'registrations', name: name ?? (date === 0 ? 1 : 0), date, head: undefined }
  if (
    rows.filter((cells) => cells.filter((cell) => cell.trim() !== '').length > 1).length >
    rows.length / 2
  ) {
    throw new UnreadableFile('import.noDates')
  }
  return { ...plain, kind: 'deletions', name: 0, date: undefined, head: undefined }
}

function headColumns(head: readonly string[]) {
  const find = (test: (cell: string) => boolean) => {
    const at = head.findIndex(test)
    return at === -1 ? undefined : at
  }
  const name = find((cell) => NAME_HEAD.test(cell) && !DATE_HEAD.test(cell))
  const date =
    find((cell) => REGISTERED_HEAD.test(cell) && DATE_HEAD.test(cell)) ??
    find((cell) => DATE_HEAD.test(cell) || REGISTERED_HEAD.test(cell))
  return {
    name,
    date: date === name ? undefined : date,
    status: find((cell) => cell === 'status'),
    reserved: find((cell) => cell === 'reserved'),
  }
}

/** A single word may be a header or a domain, which the following lines decide. */
function isHead(first: readonly string[], others: readonly (readonly string[])[]): boolean {
  const cells = first.map((cell) => cell.trim())
  if (cells.some((cell) => parseDate(cell) !== undefined || /\.cl\.?$/i.test(cell))) return false
  const [only = ''] = cells
  if (cells.length === 1) {
    const isWord = LONE_HEADS.has(only.toLowerCase())
    const isPhrase = NAME_HEAD.test(only) && /^[\p{L} ]+$/u.test(only) && only.includes(' ')
    return isPhrase || (isWord && others.every(([cell = '']) => /\.cl\.?$/i.test(cell.trim())))
  }
  return cells.some((cell) => NAME_HEAD.test(cell))
}

/** Returns the column that fits most lines. */
function columnWhere(
  rows: readonly (readonly string[])[],
  test: (cell: string, column: number) => boolean,
): number | undefined {
  const width = Math.max(0, ...rows.map((cells) => cells.length))
  const fits = Array.from(
    { length: width },
    (_, column) => rows.filter((cells) => test(cells[column] ?? '', column)).length,
  )
  const most = Math.max(0, ...fits)
  return most === 0 ? undefined : fits.indexOf(most)
}

function separatorOf(sample: readonly string[]): Separator {
  const uses = SEPARATORS.map((each) => sample.filter((line) => line.includes(each)).length)
  return SEPARATORS[uses.indexOf(Math.max(...uses))] ?? ','
}

/**
 * Returns the cells of a line (RFC 4180). A line without the list's separator may have another one, because lists
 * are concatenated.
 */
export function fieldsOf(line: string, separator: Separator): string[] {
  const used = line.includes(separator)
    ? separator
    : (SEPARATORS.find((each) => line.includes(each)) ?? separator)
  if (!line.includes('"')) return line.split(used)
  const cells: string[] = []
  let cell = ''
  let isQuoted = false
  for (let at = 0; at < line.length; at++) {
    const character = line[at] ?? ''
    if (character === '"' && isQuoted && line[at + 1] === '"') {
      cell += '"'
      at++
    } else if (character === '"' && (isQuoted || cell.trim() === '')) {
      if (!isQuoted) cell = ''
      isQuoted = !isQuoted
    } else if (character === used && !isQuoted) {
      cells.push(cell)
      cell = ''
    } else cell += character
  }
  return [...cells, cell]
}
