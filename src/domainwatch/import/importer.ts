import type { Clock } from '../../core/clock.ts'
import { localDateTime } from '../../core/dates.ts'
import { Overload } from '../../core/errors.ts'
import type { Row } from '../records.ts'
import { layoutOf, SAMPLE_LINES, type ImportFormat } from './format.ts'
import { SourceFault, type Line } from './lines.ts'
import { joinLines } from './joined-lines.ts'
import { completeness, readLine } from './read-line.ts'

/** Lines stored in one transaction: others who write wait no longer than this takes, some 200 ms. */
const BATCH = 10_000
/** Tries while others keep the database busy. */
const MAX_TRIES = 10
/** Lines that are held to tell what a file is, blank ones among them. */
const MAX_SAMPLED = 200
/** Bad lines told of; all are counted. */
const MAX_FAULTS = 20

export interface LineFault {
  readonly line: number
  readonly field: string
  readonly msg: string
}

export interface ImportCounts {
  /** Records of the file that were read right, a repeated one each time. */
  read: number
  /** Records that are new or changed by it. */
  changed: number
  refused: number
}

export type ImportOutcome =
  | {
      readonly kind: 'imported'
      readonly counts: ImportCounts
      readonly faults: readonly LineFault[]
      /** Why it ends before its end; what came before is stored. */
      readonly cutOff?: SourceFault
    }
  | { readonly kind: 'unknown-format' }

/** Stores records that were read, and tells how many rows that changed. */
export type StoreRows = (format: ImportFormat, rows: readonly Row[]) => Promise<number>

export interface ImportOptions {
  readonly format?: ImportFormat | undefined
  readonly clock: Clock
  readonly timeZone: string
  readonly store: StoreRows
  /** Lines up to this one are passed over: an earlier run stored them. */
  readonly after?: { readonly line: number; readonly counts: ImportCounts } | undefined
  /** Told when everything up to a line is stored. */
  readonly stored?: (line: number, counts: ImportCounts) => Promise<void>
}

/**
 * Stores what the lines of a file tell. A bad line is counted and told of, and loses no other; a file that is cut off loses
 * nothing that was read of it.
 */
export async function importLines(
  lines: AsyncIterable<Line>,
  options: ImportOptions,
): Promise<ImportOutcome> {
  const { after, stored, store } = options
  const counts: ImportCounts = { read: 0, changed: 0, refused: 0, ...after?.counts }
  const faults: LineFault[] = []
  let cutOff: SourceFault | undefined
  const { sample, all } = await sampled(untilFault(lines, (fault) => (cutOff = fault)))
  const done = () => ({
    kind: 'imported' as const,
    counts,
    faults,
    ...(cutOff === undefined ? {} : { cutOff }),
  })
  if (sample.length === 0) return done()
  const layout = layoutOf(sample, options.format)
  if (layout === undefined) return { kind: 'unknown-format' }
  const { format } = layout
  // Files that were put together have one each.
  const head = layout.hasHead ? sample[0]?.trim() : undefined
  let rows = new Map<string, Row>()
  let last = 0
  // One batch is stored while the next is read.
  let storing: Promise<void> = Promise.resolve()

  const refuse = (line: number, field: string, msg: string) => {
    counts.refused++
    if (faults.length < MAX_FAULTS) faults.push({ line, field, msg })
  }

  async function flush(): Promise<void> {
    await storing
    const batch = [...rows.values()]
    rows = new Map()
    const upTo = last
    // By the time they are stored, more lines are read.
    const { read, refused } = counts
    storing = (async () => {
      if (batch.length > 0) counts.changed += await patiently(() => store(format, batch))
      await stored?.(upTo, { read, changed: counts.changed, refused })
    })()
    // Awaited at the next turn: until then a failure is nobody's.
    storing.catch(() => {})
  }

  for await (const { number: line, text } of joinLines(all, (each) => completeness(each, layout))) {
    const trimmed = text?.trim()
    if (trimmed === '' || (head !== undefined && trimmed === head)) continue
    if (line <= (after?.line ?? 0)) continue
    last = line
    const now = localDateTime(options.clock.now(), options.timeZone)
    const read = text === undefined ? TOO_LONG : readLine(text, layout, now)
    if (!read.ok) refuse(line, read.field, read.msg)
    else {
      counts.read++
      keep(rows, read.name, read.row, format)
      if (rows.size >= BATCH) await flush()
    }
  }
  await flush()
  await storing
  return done()
}

/** The first lines that are not blank, as texts, and all lines from the first of them on. */
async function sampled(lines: AsyncGenerator<Line>) {
  const first: Line[] = []
  const sample: string[] = []
  while (sample.length < SAMPLE_LINES && first.length < MAX_SAMPLED) {
    const next = await lines.next()
    if (next.done === true) break
    // Longer than any line may be, and not blank for all that is known.
    const text = next.value.text ?? '-'
    if (text.trim() !== '') sample.push(text)
    if (sample.length > 0) first.push(next.value)
  }
  async function* all() {
    yield* first
    yield* lines
  }
  return { sample, all: all() }
}

/** Ends where the source cannot be read any more. */
async function* untilFault(lines: AsyncIterable<Line>, tell: (fault: SourceFault) => void) {
  try {
    yield* lines
  } catch (error) {
    if (!(error instanceof SourceFault)) throw error
    tell(error)
  }
}

const TOO_LONG = { ok: false, field: '', msg: 'La línea es demasiado larga' } as const
/** Where `readNewRecord` has the date. */
const DATE = 7

/** Of a name's several lines the last counts; of several registrations the newest, wherever it stands. */
function keep(rows: Map<string, Row>, name: string, row: Row, format: ImportFormat): void {
  const other = format === 'registrations' ? rows.get(name) : undefined
  if (other === undefined || String(other[DATE]) < String(row[DATE])) rows.set(name, row)
}

async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let run = 1; ; run++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Overload) || run === MAX_TRIES) throw error
      await new Promise((resolve) => setTimeout(resolve, 100 * run))
    }
  }
}
