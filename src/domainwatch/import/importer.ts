import { localDateTime } from '../../lib/dates.ts'
import { restoreDismissed } from '../queries-dismissed.ts'
import { readNumberKeys, storeNumbers } from '../queries-numbers.ts'
import { type ListedBy, type ListResult, RegistryList } from '../registry/apply-list.ts'
import type { Skipped } from '../registry/rules.ts'
import {
  toLayout,
  SAMPLE_LINES,
  type ImportFormat,
  completeness,
  listKind,
  parseLine,
  type Layout,
  type LineContext,
} from './format.ts'
import { joinLines, SourceFault, type Line } from './source.ts'
import {
  RowBuffer,
  ImportWriter,
  restoreRows,
  storeRows,
  type ApplyRows,
  type ImportCounts,
  type ImportTarget,
  type LineFault,
  type Reached,
  type StoreRows,
  type WriterOptions,
} from './writer.ts'

/** Lines held to detect the format, blank ones included. */
const MAX_SAMPLED = 200
/** Bad lines that are reported; all are counted. */
const MAX_FAULTS = 100

export type ImportOutcome =
  | {
      readonly kind: 'imported'
      /** Undefined for an empty file. */
      readonly format: ImportFormat | undefined
      readonly counts: ImportCounts
      readonly faults: readonly LineFault[]
      /** Why reading stopped before the end of the file. What was read is stored. */
      readonly cutOff?: SourceFault
      /** Why a list of the registry changed nothing. */
      readonly skipped: Skipped | undefined
      /** What the source of a list of the registry learnt from it. */
      readonly list: ListResult
    }
  | { readonly kind: 'unknown-format' }

export interface ImportOptions extends Omit<WriterOptions, 'store'>, Pick<LineContext, 'zone' | 'restores'> {
  /** Undefined if it is to be detected. */
  readonly format?: ImportFormat | undefined
  /** Where a list of the registry comes from; by default its source is named after its format and window. */
  readonly list: Omit<ListedBy, 'source'> & { readonly source?: string | undefined }
  /** Whether the sender said where the list ends; otherwise it may be a part. */
  readonly isDelimited?: boolean
  /** Whether nothing is stored, only counted. */
  readonly isDry?: boolean | undefined
  /** Rows that are sorted together. */
  readonly maxBufferedRows?: number
  /** Where an earlier run stopped: what it stored is skipped. */
  readonly after?: Reached | undefined
  /** Ends the import between two transactions. */
  readonly signal?: AbortSignal
}

/**
 * Imports the lines of a file, a buffer at a time, in the order of their names. A bad line is counted and reported and
 * affects no other. If the file is truncated, what was read of it is stored.
 * @throws the reason of `signal` if that aborts
 */
export async function importLines(
  lines: AsyncIterable<Line>,
  target: ImportTarget,
  options: ImportOptions,
): Promise<ImportOutcome> {
  const { after, restores, signal } = options
  const counts: ImportCounts = { read: 0, added: 0, changed: 0, refused: 0, ...after?.counts }
  const faults: LineFault[] = [...(after?.faults ?? [])]
  let cutOff: SourceFault | undefined
  const source = untilFault(lines, (fault) => (cutOff = fault))
  const outcome = (format: ImportFormat | undefined, skipped: Skipped | undefined, list: ListResult) =>
    ({ kind: 'imported', format, counts, faults, skipped, list, ...(cutOff && { cutOff }) }) as const
  const { sample, all } = await sampled(source)
  const layout = sample.length === 0 ? emptyLayout(options.format) : toLayout(sample, options.format)
  if (layout === undefined && sample.length === 0) return outcome(undefined, undefined, {})
  // Decisions of the group do not come from others.
  if (layout === undefined || (layout.format === 'dismissed' && !restores)) {
    // Closes the file.
    await source.return()
    return { kind: 'unknown-format' }
  }
  const { format } = layout
  const { store, end, skipped, numberKeys } = await openDestination(target, format, options)
  let isCut = false
  // Concatenated files repeat the header.
  const header = layout.hasHeader ? sample[0]?.trim() : undefined
  const first = after?.line ?? 0
  const { clock, split, timeZone } = target
  const now = clock.now()
  const [shown, latest] = [now, now + DAY_MS].map((at) => localDateTime(at, timeZone))
  const dates = { now: shown ?? '', latest: latest ?? '', timeZone, zone: options.zone }
  const context: LineContext = { ...dates, split, restores, numberKeys }
  const { added, changed, ...before } = counts
  const storeUntilAborted: StoreRows = (batch, reachedAfter) => {
    signal?.throwIfAborted()
    return store(batch, reachedAfter)
  }
  const writer = new ImportWriter(
    { ...options, store: storeUntilAborted },
    { line: first, ...before },
    { added, changed },
    faults,
  )
  let buffer = new RowBuffer(counts.read, options.maxBufferedRows)
  let last = first

  const refuse = (line: number, msg: string) => {
    counts.refused++
    if (faults.length < MAX_FAULTS) faults.push({ line, msg })
  }

  // One buffer is stored while the next is filled.
  async function flush(): Promise<void> {
    const rows = buffer.sorted(format === 'registrations' ? 'newest' : 'last')
    buffer = new RowBuffer(counts.read, options.maxBufferedRows)
    await writer.begin(rows, { line: last, read: counts.read, refused: counts.refused })
  }

  try {
    for await (const { number: line, text, isCut: isPart } of joinLines(all, (each) =>
      completeness(each, layout),
    )) {
      const trimmed = text?.trim()
      if (trimmed === '' || (header !== undefined && trimmed === header)) continue
      if (line <= first) continue
      last = line
      // Part of a name is another name.
      isCut = end !== undefined && isPart === true
      if (isCut) break
      const read = text === undefined ? TOO_LONG : parseLine(text, layout, context)
      if (!read.ok) refuse(line, read.msg)
      else {
        counts.read++
        buffer.add(read.name, JSON.stringify(read.values))
      }
      if (buffer.isFull) await flush()
    }
    await flush()
    Object.assign(counts, await writer.end())
  } finally {
    // The database may be closed afterwards.
    await writer.settled()
  }
  signal?.throwIfAborted()
  // A file that could not be read is continued later, and one without a valid line is not a list.
  const isEnded = cutOff === undefined && (counts.read > 0 || counts.refused === 0)
  const isWhole = !isCut && counts.refused === 0 && options.isDelimited !== false
  return outcome(format, skipped, isEnded && end !== undefined ? await end(isWhole, counts.read) : {})
}

/** Where the rows of a file go, which depends on its format. */
interface Destination {
  readonly store: StoreRows
  /** Whether rows are only read, because the list changes nothing. */
  readonly skipped?: Skipped | undefined
  /** The keys of the numbers that there are. */
  readonly numberKeys?: Set<string>
  /**
   * Called when all rows of a list of the registry are stored.
   * @param isWhole whether it was read to its end and every line was valid
   */
  readonly end?: (isWhole: boolean, names: number) => Promise<ListResult>
}

/** Returns where the rows of a file go: into whole records, numbers or dismissed names, or through the rules for lists of the registry. */
async function openDestination(
  target: ImportTarget,
  format: ImportFormat,
  { restores, list: given, isDry = false }: ImportOptions,
): Promise<Destination> {
  const { database } = target
  const storeBy = (apply: ApplyRows) => storeRows(target, apply, isDry)
  if (format === 'dismissed') {
    return {
      store: storeBy(async (tx, batch) => {
        return { added: 0, changed: await restoreDismissed(database, tx, batch) }
      }),
    }
  }
  if (format === 'numbers') {
    const store = storeBy((tx, batch) => storeNumbers(database, tx, batch))
    return { store, numberKeys: await readNumberKeys(database) }
  }
  const kind = listKind(format, restores)
  if (kind === undefined) return { store: storeBy(restoreRows(target)) }
  const list = new RegistryList(target, kind, {
    ...given,
    source: given.source ?? `${format}/${given.window}`,
  })
  const skipped = await list.skipReason()
  if (skipped !== undefined) return { store: async () => ({ added: 0, changed: 0 }), skipped }
  return {
    store: storeBy((tx, batch) => list.apply(tx, batch)),
    // A repair is not a list of its source.
    ...(!isDry && given.repaired === undefined && { end: (isWhole, names) => list.end(isWhole, names) }),
  }
}

const DAY_MS = 86_400_000

/** An empty file is an empty list if its format is known. */
const emptyLayout = (format: ImportFormat | undefined): Layout | undefined =>
  format && { format, separator: ',', columns: new Map(), hasHeader: false }

/** Returns the first lines that are not blank, and all lines from the first of them on. */
async function sampled(lines: AsyncGenerator<Line>) {
  const first: Line[] = []
  const sample: string[] = []
  while (sample.length < SAMPLE_LINES && first.length < MAX_SAMPLED) {
    const next = await lines.next()
    if (next.done === true) break
    // A line that is too long counts as not blank.
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

/** Ends at the first read error of the source. */
async function* untilFault(lines: AsyncIterable<Line>, report: (fault: SourceFault) => void) {
  try {
    yield* lines
  } catch (error) {
    if (!(error instanceof SourceFault)) throw error
    report(error)
  }
}

const TOO_LONG = { ok: false, msg: 'La línea es demasiado larga' } as const
