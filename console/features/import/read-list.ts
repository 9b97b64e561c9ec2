import type { TextKey } from '../../i18n/index.ts'
import { DayOrderVotes, parseDate, recordDate, type DayOrder, type ParsedDate } from './dates.ts'
import { fieldsOf, layoutOf, SAMPLE_LINES, type Layout, type Separator } from './layout.ts'
import { parseName } from './parse-name.ts'
import { decodeText, UnreadableFile, type Encoding } from './decode-text.ts'

/** The domain in a line of a list. */
export interface Row {
  /** From 1, in the file. */
  readonly line: number
  readonly domain: string
  readonly status: 0 | 1
  readonly reserve: 0 | 1
  /** `YYYY-MM-DD HH:MM:SS`; undefined in a list without dates. */
  readonly date: string | undefined
}

export interface BadLine {
  readonly line: number
  readonly text: string
  readonly reason: TextKey | { readonly said: string; readonly field?: string }
}

/** How the file was read, for the user. */
export interface DetectedFormat {
  readonly encoding: Encoding
  /** Undefined if each line is a name. */
  readonly separator: Separator | undefined
  readonly columns: readonly string[]
  readonly order: DayOrder | undefined
  /** Whether `order` is ambiguous. */
  readonly isGuess: boolean
}

export interface ReadList {
  readonly kind: 'registrations' | 'deletions'
  /** In the order of the file; for a repeated name, the last line. */
  readonly rows: readonly Row[]
  /** The first ones. */
  readonly bad: readonly BadLine[]
  readonly badCount: number
  /** Number of lines replaced by a later line with the same name. */
  readonly repeated: number
  readonly understood: DetectedFormat
}

/** Twice the size of the zone. */
const MAX_LINES = 1_500_000
const MAX_BAD = 1_000
/** Longer than any valid line. */
const MAX_LINE = 65_536
/** Maximum time without yielding to the page. */
const SLICE_MS = 12

interface Draft extends Omit<Row, 'date'> {
  readonly written: ParsedDate | undefined
}

interface Options {
  /** Overrides the detected order of day and month. */
  readonly order?: DayOrder | undefined
  readonly onProgress?: (part: number) => void
}

/**
 * Reads a list of the registry: registrations as CSV with a date, or deletions, one name per line. An invalid line
 * does not affect others.
 * @throws UnreadableFile if it is not a list
 */
export async function readList(file: Blob, options: Options = {}): Promise<ReadList> {
  const { isLong, pause } = slices()
  const drafts: Draft[] = []
  const bad: BadLine[] = []
  const votes = new DayOrderVotes()
  let [badCount, repeated, characters] = [0, 0, 0]
  let encoding: Encoding = 'utf-8'
  const refuse = (line: number, text: string, reason: TextKey) => {
    badCount++
    if (bad.length < MAX_BAD) bad.push({ line, text: text.slice(0, 200), reason })
  }
  const take = (line: number, text: string, layout: Layout) => {
    const cells = fieldsOf(text, layout.separator)
    const draft = draftOf(line, cells, layout)
    if ('reason' in draft) {
      refuse(line, text, draft.reason)
      return
    }
    drafts.push(draft)
    if (draft.written !== undefined) votes.add(draft.written)
  }

  const head: [line: number, text: string][] = []
  let layout: Layout | undefined
  const begin = () => {
    const found = layoutOf(head.map(([, text]) => text))
    for (const [line, text] of found.head === undefined ? head : head.slice(1)) take(line, text, found)
    return found
  }
  for await (const [first, lines] of linesOf(decodeText(file, (found) => (encoding = found)))) {
    if (first + lines.length > MAX_LINES) throw new UnreadableFile('import.tooLarge')
    for (const [i, text] of lines.entries()) {
      characters += text.length + 1
      if (text.trim() === '') continue
      if (layout !== undefined) take(first + i, text, layout)
      else if (head.push([first + i, text]) === SAMPLE_LINES) layout = begin()
      if (isLong()) {
        options.onProgress?.(Math.min(1, characters / file.size))
        await pause()
      }
    }
  }
  if (head.length === 0) throw new UnreadableFile('import.empty')
  layout ??= begin()
  if (drafts.length === 0 && badCount === 0) throw new UnreadableFile('import.headOnly')

  const order = options.order ?? votes.order
  const rows = new Map<string, Row>()
  for (const { written, ...row } of drafts) {
    const date = written === undefined ? undefined : recordDate(written, order ?? 'year-first')
    if (written !== undefined && date === undefined) {
      refuse(row.line, `${row.domain}.cl ${written.text}`, 'import.reason.noSuchDate')
    } else {
      if (rows.delete(row.domain)) repeated++
      rows.set(row.domain, { ...row, date })
    }
    if (isLong()) await pause()
  }
  const isList = layout.date === undefined
  return {
    kind: layout.kind,
    rows: [...rows.values()],
    bad: bad.toSorted((a, b) => a.line - b.line),
    badCount,
    repeated,
    understood: {
      encoding,
      separator: isList && layout.head === undefined ? undefined : layout.separator,
      columns: [layout.name, layout.date, layout.status, layout.reserved].flatMap(
        (at) => layout.head?.[at ?? -1] ?? [],
      ),
      order: order ?? (isList ? undefined : 'year-first'),
      isGuess: votes.isGuess,
    },
  }
}

function draftOf(
  line: number,
  cells: readonly string[],
  layout: Layout,
): Draft | { readonly reason: TextKey } {
  const found = parseName(cells[layout.name] ?? '')
  // A line of a list of names has only a name.
  if (
    layout.kind === 'deletions' &&
    layout.head === undefined &&
    cells.slice(1).some((cell) => cell.trim() !== '')
  ) {
    return { reason: 'import.reason.columns' }
  }
  if ('reason' in found) {
    // A line without the columns is reported as such, not for its name.
    return layout.date !== undefined && cells.length === 1 ? { reason: 'import.reason.columns' } : found
  }
  const bit = (column: number | undefined, otherwise: 0 | 1): 0 | 1 | undefined => {
    const text = column === undefined ? '' : (cells[column] ?? '').trim()
    return text === '' ? otherwise : text === '0' ? 0 : text === '1' ? 1 : undefined
  }
  const status = bit(layout.status, layout.kind === 'deletions' ? 0 : 1)
  const reserve = bit(layout.reserved, 0)
  if (status === undefined || reserve === undefined) return { reason: 'import.reason.columns' }
  if (layout.date === undefined) return { line, domain: found.name, status, reserve, written: undefined }
  const text = (cells[layout.date] ?? '').trim()
  if (text === '') return { reason: 'import.reason.noDate' }
  const written = parseDate(text)
  if (written === undefined) return { reason: 'import.reason.date' }
  return { line, domain: found.name, status, reserve, written }
}

/** Yields the lines of a text, with any line ends, in batches: the number of the first, and their texts. */
async function* linesOf(pieces: AsyncIterable<string>): AsyncGenerator<[number, string[]]> {
  let rest = ''
  let number = 1
  for await (const piece of pieces) {
    // A final carriage return may be half of a line end.
    const text = rest + piece
    const isOpen = text.endsWith('\r')
    const lines = (isOpen ? text.slice(0, -1) : text).replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)
    rest = (lines.pop() ?? '') + (isOpen ? '\r' : '')
    if (rest.length > MAX_LINE) throw new UnreadableFile('import.binary')
    yield [number, lines]
    number += lines.length
  }
  if (rest.trim() !== '') yield [number, [rest.trim()]]
}

/** Splits long work into slices, so that the page stays responsive. */
function slices() {
  let begun = performance.now()
  return {
    isLong: () => performance.now() - begun > SLICE_MS,
    pause: () =>
      new Promise<void>((resolve) => {
        setTimeout(() => {
          begun = performance.now()
          resolve()
        })
      }),
  }
}
