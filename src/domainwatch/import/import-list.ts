import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import type { Gate } from '../../lib/gate.ts'
import { type ListResult, RegistryList, type ListedBy } from '../registry/apply-list.ts'
import type { Skipped, Window } from '../registry/rules.ts'
import { type ImportFormat, listKind } from './format.ts'
import { importLines, type Destination, type ImportOptions } from './importer.ts'
import { readLines, SourceFault, bytesOf, TooLargeFault } from './source.ts'
import { tooLarge, WEB_PAGE } from '../../deliveries/download.ts'
import { ListFault } from '../../lib/errors.ts'
import {
  type ImportTarget,
  type ImportCounts,
  type LineFault,
  type StoreRows,
  restoreRows,
  storeRows,
  type ApplyRows,
} from './writer.ts'
import { restoreDismissed } from '../queries-dismissed.ts'
import { readNumberKeys, storeNumbers } from '../queries-numbers.ts'

/** Bytes in which a web page shows its first tag. */
const HEAD_BYTES = 1_024
/** Lists are read and sorted in parts of some milliseconds, between which requests are served. */
const PIECE_BYTES = 8_192
const MAX_BUFFERED_ROWS = 5_000

/** A list as a feed downloaded it or a member uploaded it. */
interface ReceivedList {
  readonly path: string
  /** Undefined if it is to be detected. */
  readonly format: ImportFormat | undefined
  readonly source: (format: ImportFormat) => string
  readonly window: Window
  /** The time zone of its dates; that of the service unless given. */
  readonly zone?: string | undefined
  /** When its download or upload began. */
  readonly at: number
  /** Whether its sender said where it ends. */
  readonly isDelimited: boolean
}

interface ImportListOptions extends Pick<ImportOptions, 'after' | 'stored'> {
  /** Imports share the processor and the writer with requests. */
  readonly gate: Gate<string>
  /** Whose turn it is: clients import in turn. */
  readonly client: string
  /** Maximum size after decompression. */
  readonly maxBytes: number
  readonly signal: AbortSignal
  /** Whether nothing is stored, only counted. */
  readonly isDry?: boolean
  /** Called after each transaction with the share of the file that is stored, from 0 to 1. */
  readonly onProgress?: (share: number) => void
}

export interface ImportedList {
  readonly counts: ImportCounts
  readonly faults: readonly LineFault[]
  readonly list: ListResult
  readonly skipped: Skipped | undefined
  readonly format: ImportFormat | undefined
}

/** Returns why an import is a failure although its file could be read, in Spanish; undefined if it is not. */
export function faultIn({ counts, list }: ImportedList): string | undefined {
  if (counts.read === 0 && counts.refused > 0) return 'Ninguna línea de la lista es válida'
  return list.incomplete === 'empty' ? 'La lista está vacía, y la anterior no lo estaba' : undefined
}

/**
 * Imports a list that was received whole. Stores nothing if it is damaged, too large or not a list. Marks of exports are not taken.
 * @throws ListFault if it is not imported, and the reason of `signal` if that aborts in between
 */
export async function importList(
  received: ReceivedList,
  target: ImportTarget,
  options: ImportListOptions,
): Promise<ImportedList> {
  const { gate, client, maxBytes, signal } = options
  const work = async () => {
    const digest = await readDigest(received.path, maxBytes, signal)
    return importContent(received, digest, target, options)
  }
  return gate.run(client, work, signal)
}

const unknownFormat = () => new ListFault('La lista tiene un formato desconocido')

async function importContent(
  { path, format, source, window, zone, at, isDelimited }: ReceivedList,
  digest: string,
  target: ImportTarget,
  { after, stored, onProgress = () => {}, isDry = false, signal }: ImportListOptions,
): Promise<ImportedList> {
  // Waits for a transaction in progress, because the database may be closed afterwards.
  let running: Promise<unknown> = Promise.resolve()
  let readFormat: ImportFormat | undefined
  const open = async (found: ImportFormat): Promise<Destination> => {
    // Decisions of the group do not come from others.
    if (found === 'dismissed') throw unknownFormat()
    readFormat = found
    const listedBy = () => ({ source: source(found), window, at, digest, isForced: false })
    const opened = await openDestination(target, found, { restores: false, listedBy, isDry })
    const storeUntilAborted: StoreRows = (batch, reachedAfter) => {
      signal.throwIfAborted()
      const storing = opened.store(batch, reachedAfter)
      running = storing.catch(() => {})
      return storing
    }
    const endUntilAborted = async (isWhole: boolean, names: number) => {
      signal.throwIfAborted()
      const ended = opened.end?.(isWhole && isDelimited, names) ?? Promise.resolve({})
      running = ended.catch(() => {})
      return ended
    }
    return { ...opened, store: storeUntilAborted, end: endUntilAborted }
  }
  const { clock, split, timeZone } = target
  const { size } = await stat(path)
  let readBytes = 0
  const bytes = toContent(path, undefined, (count) => void (readBytes += count))
  try {
    const outcome = await importLines(readLines(inSmallPieces(bytes, signal)), {
      format,
      clock,
      timeZone,
      zone,
      split,
      restores: false,
      maxBufferedRows: MAX_BUFFERED_ROWS,
      open,
      after,
      ...(stored && { stored }),
      source: { read: () => readBytes, stored: (count) => onProgress(size === 0 ? 1 : count / size) },
    })
    if (outcome.kind === 'unknown-format') throw unknownFormat()
    if (outcome.cutOff !== undefined) throw outcome.cutOff
    const { counts, faults, skipped, list = {} } = outcome
    return { counts, faults, skipped, list, format: readFormat }
  } finally {
    await running
  }
}

/**
 * Reads everything once before the import, because an import cannot be undone.
 * @returns the digest of its content after decompression
 */
async function readDigest(path: string, maxBytes: number, signal: AbortSignal): Promise<string> {
  const digest = createHash('sha256')
  let head = ''
  try {
    for await (const piece of toContent(path, maxBytes)) {
      signal.throwIfAborted()
      digest.update(piece)
      if (head.length < HEAD_BYTES) head += piece.subarray(0, HEAD_BYTES).toString('latin1')
    }
  } catch (error) {
    if (error instanceof TooLargeFault) throw new ListFault(tooLarge(maxBytes))
    if (error instanceof SourceFault && error.cause instanceof Error)
      throw new ListFault('El archivo comprimido está dañado', { cause: error })
    throw error
  }
  if (/^(\xEF\xBB\xBF)?\s*</.test(head)) throw new ListFault(WEB_PAGE)
  return digest.digest('base64url')
}

/** A server may compress a compressed file once more. */
const toContent = (path: string, maxBytes?: number, read: (bytes: number) => void = () => {}) =>
  bytesOf(path, read, { layers: 2, maxBytes })

/** Yields small pieces. Lets the event loop run before each, because decompressed data arrives without waiting. */
async function* inSmallPieces(bytes: AsyncIterable<Buffer>, signal: AbortSignal): AsyncGenerator<Buffer> {
  for await (const piece of bytes) {
    for (let from = 0; from < piece.length; from += PIECE_BYTES) {
      await setImmediate()
      signal.throwIfAborted()
      yield piece.subarray(from, from + PIECE_BYTES)
    }
  }
}

interface DestinationOptions {
  /** Whether exports restore whole records. */
  readonly restores: boolean
  /** Returns the source of a list of the registry. */
  readonly listedBy: (format: ImportFormat) => ListedBy
  /** Whether nothing is stored, only counted. */
  readonly isDry?: boolean
}

/** Returns where the rows of a file go: into whole records, numbers or dismissed names, or through the rules for lists of the registry. */
export async function openDestination(
  target: ImportTarget,
  format: ImportFormat,
  { restores, listedBy, isDry = false }: DestinationOptions,
): Promise<Destination> {
  if (format === 'dismissed') {
    const restore: ApplyRows = async (tx, batch) => {
      return { added: 0, changed: await restoreDismissed(target.database, tx, batch) }
    }
    return { store: storeRows(target, restore, isDry) }
  }
  if (format === 'numbers') {
    const { database } = target
    const store: ApplyRows = (tx, batch) => storeNumbers(database, tx, batch)
    return { store: storeRows(target, store, isDry), numberKeys: await readNumberKeys(database) }
  }
  const kind = listKind(format, restores)
  if (kind === undefined) return { store: storeRows(target, restoreRows(target), isDry) }
  const list = new RegistryList(target, kind, listedBy(format))
  const skipped = await list.skipReason()
  if (skipped !== undefined) return { store: async () => ({ added: 0, changed: 0 }), skipped }
  return {
    store: storeRows(target, (tx, batch) => list.apply(tx, batch), isDry),
    ...(!isDry && { end: (isWhole, names) => list.end(isWhole, names) }),
  }
}
