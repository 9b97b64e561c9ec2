import type { Clock } from '../../lib/clock.ts'
import { localDateTime } from '../../lib/dates.ts'
import { layoutOf, SAMPLE_LINES, type ImportFormat } from './format.ts'
import { SourceFault, type Line } from './lines.ts'
import { joinLines } from './joined-lines.ts'
import { completeness, readLine } from './read-line.ts'
import { Storing, type ImportCounts, type Reached, type StoringOptions } from './storing.ts'
import { Stretch } from './stretch.ts'

/** Lines that are held to tell what a file is, blank ones among them. */
const MAX_SAMPLED = 200
/** Bad lines told of; all are counted. */
const MAX_FAULTS = 20

export interface LineFault {
  readonly line: number
  readonly field: string
  readonly msg: string
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

export interface ImportOptions extends StoringOptions {
  readonly format?: ImportFormat | undefined
  readonly clock: Clock
  readonly timeZone: string
  /** What an earlier run stored is passed over. */
  readonly after?: Reached | undefined
}

/**
 * Stores what the lines of a file tell, a stretch of them at a time, in the order of their names. A bad line is counted and
 * told of, and loses no other; a file that is cut off loses nothing that was read of it.
 */
export async function importLines(
  lines: AsyncIterable<Line>,
  options: ImportOptions,
): Promise<ImportOutcome> {
  const { after } = options
  const counts: ImportCounts = { read: 0, changed: 0, refused: 0, ...after?.counts }
  const faults: LineFault[] = []
  let cutOff: SourceFault | undefined
  const source = untilFault(lines, (fault) => (cutOff = fault))
  const { sample, all } = await sampled(source)
  const done = () => ({
    kind: 'imported' as const,
    counts,
    faults,
    ...(cutOff === undefined ? {} : { cutOff }),
  })
  if (sample.length === 0) return done()
  const layout = layoutOf(sample, options.format)
  if (layout === undefined) {
    // The file is open still.
    await source.return()
    return { kind: 'unknown-format' }
  }
  const { format } = layout
  // Files that were put together have one each.
  const head = layout.hasHead ? sample[0]?.trim() : undefined
  // A stretch of which a part is stored ends where it did then.
  const { to: end = 0, name: behind = '' } = after?.part ?? {}
  const first = after?.line ?? 0
  const storing = new Storing(options, { line: first, ...counts }, counts.changed)
  let stretch = new Stretch(counts.read)
  let last = first

  const refuse = (line: number, field: string, msg: string) => {
    counts.refused++
    if (faults.length < MAX_FAULTS) faults.push({ line, field, msg })
  }

  // One stretch is stored while the next is read.
  async function flush(): Promise<void> {
    const rows = stretch.sorted(format, last === end ? behind : '')
    stretch = new Stretch(counts.read)
    await storing.begin(rows, { line: last, read: counts.read, refused: counts.refused })
  }

  for await (const { number: line, text } of joinLines(all, (each) => completeness(each, layout))) {
    const trimmed = text?.trim()
    if (trimmed === '' || (head !== undefined && trimmed === head)) continue
    if (line <= first) continue
    last = line
    const now = localDateTime(options.clock.now(), options.timeZone)
    const read = text === undefined ? TOO_LONG : readLine(text, layout, now)
    if (!read.ok) refuse(line, read.field, read.msg)
    else {
      counts.read++
      stretch.add(read.name, read.row)
    }
    if (line === end || (stretch.isFull && line > end)) await flush()
  }
  await flush()
  counts.changed = await storing.end()
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
