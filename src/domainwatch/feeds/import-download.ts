import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { openDestination } from '../import/destination.ts'
import type { ImportFormat } from '../import/format.ts'
import { importLines, type Destination, type ImportOptions } from '../import/importer.ts'
import { readLines, SourceFault } from '../import/lines.ts'
import { bytesOf, TooLargeFault } from '../import/source.ts'
import type { ImportTarget } from '../import/store-rows.ts'
import type { ImportCounts, StoreRows } from '../import/writer.ts'
import type { ListResult } from '../registry/apply-list.ts'
import { FeedFault, tooLarge, WEB_PAGE } from './download.ts'
import { feedSource, type Feed } from './settings.ts'
import { Gate } from '../../lib/gate.ts'

/** Bytes in which a web page shows its first tag. */
const HEAD_BYTES = 1_024
/** Lists are read and sorted in parts of some milliseconds, between which requests are served. */
const PIECE_BYTES = 8_192
const MAX_BUFFERED_ROWS = 5_000

/** A list as it was downloaded. */
export interface DownloadedList {
  readonly path: string
  readonly feed: Feed
  /** When the download began. */
  readonly at: number
  /** Whether the response said where it ends. */
  readonly isDelimited: boolean
}

export type FeedTarget = ImportTarget & Pick<ImportOptions, 'split'>

export interface FeedImport {
  readonly counts: ImportCounts
  readonly list: ListResult
  readonly format: ImportFormat | undefined
}

/**
 * Imports a downloaded list. Stores nothing if it is damaged, too large or not a list.
 * @param maxBytes of the list after decompression
 * @throws FeedFault if it is not imported, and the reason of `signal` if that aborts in between
 */
export async function importDownload(
  list: DownloadedList,
  target: FeedTarget,
  slots: ImportSlots,
  maxBytes: number,
  signal: AbortSignal,
): Promise<FeedImport> {
  const { feed, path } = list
  const { bytes, digest } = await slots.check(feed.name, signal, () => checkContent(path, maxBytes, signal))
  return slots.import(feed.name, bytes, signal, () => importContent(list, digest, target, signal))
}

const unknownFormat = () => new FeedFault('La lista tiene un formato desconocido')

async function importContent(
  { path, feed, at, isDelimited }: DownloadedList,
  digest: string,
  target: FeedTarget,
  signal: AbortSignal,
): Promise<FeedImport> {
  // Waits for a transaction in progress, because the database may be closed afterwards.
  let running: Promise<unknown> = Promise.resolve()
  let format: ImportFormat | undefined
  const { clock, split, timeZone } = target
  const { name, window, zone } = feed
  const open = async (found: ImportFormat): Promise<Destination> => {
    // Decisions of the group do not come from others.
    if (found === 'dismissed') throw unknownFormat()
    format = found
    const listedBy = () => ({ source: feedSource(name), window, at, digest, isForced: false })
    const { store, end, skipped } = await openDestination(target, found, { restores: false, listedBy })
    const storeUntilAborted: StoreRows = (batch) => {
      signal.throwIfAborted()
      const stored = store(batch)
      running = stored.catch(() => {})
      return stored
    }
    const endUntilAborted = async (isWhole: boolean, names: number) => {
      signal.throwIfAborted()
      const ended = end?.(isWhole && isDelimited, names) ?? Promise.resolve({})
      running = ended.catch(() => {})
      return ended
    }
    return { store: storeUntilAborted, end: endUntilAborted, skipped }
  }
  try {
    const outcome = await importLines(readLines(inSmallPieces(contentOf(path), signal)), {
      format: feed.format === 'auto' ? undefined : feed.format,
      clock,
      timeZone,
      zone,
      split,
      restores: false,
      maxBufferedRows: MAX_BUFFERED_ROWS,
      open,
    })
    if (outcome.kind === 'unknown-format') throw unknownFormat()
    if (outcome.cutOff !== undefined) throw outcome.cutOff
    const { counts, list = {} } = outcome
    if (counts.read === 0 && counts.refused > 0) throw new FeedFault('Ninguna línea de la lista es válida')
    if (list.incomplete === 'empty') throw new FeedFault('La lista está vacía, y la anterior no lo estaba')
    return { counts, list, format }
  } finally {
    await running
  }
}

/**
 * Reads everything once before the import, because an import cannot be undone.
 * @returns its bytes after decompression, and their digest
 */
async function checkContent(path: string, maxBytes: number, signal: AbortSignal) {
  const digest = createHash('sha256')
  let bytes = 0
  let head = ''
  try {
    for await (const piece of contentOf(path, maxBytes)) {
      signal.throwIfAborted()
      bytes += piece.byteLength
      digest.update(piece)
      if (head.length < HEAD_BYTES) head += piece.subarray(0, HEAD_BYTES).toString('latin1')
    }
  } catch (error) {
    if (error instanceof TooLargeFault) throw new FeedFault(tooLarge(maxBytes))
    if (error instanceof SourceFault && error.cause instanceof Error)
      throw new FeedFault('El archivo comprimido está dañado', { cause: error })
    throw error
  }
  if (/^(\xEF\xBB\xBF)?\s*</.test(head)) throw new FeedFault(WEB_PAGE)
  return { bytes, digest: digest.digest('base64url') }
}

/** A server may compress a compressed file once more. */
const contentOf = (path: string, maxBytes?: number) => bytesOf(path, () => {}, { layers: 2, maxBytes })

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

/** Bytes after decompression from which a list is large: its import takes seconds or minutes. */
const LARGE_BYTES = 4 * 1024 * 1024
/** Each feed waits with at most one list, so a queue is no longer than the number of feeds. */
const QUEUE = { waiting: 1_000 }

/**
 * Limits how many lists are checked and imported at the same time, because they share the processor and the writer with
 * requests. Small lists are imported one after the other, and never wait for a large one.
 */
export class ImportSlots {
  readonly #checks = new Gate<string>({ ...QUEUE, running: 2 })
  readonly #small = new Gate<string>({ ...QUEUE, running: 1 })
  readonly #large = new Gate<string>({ ...QUEUE, running: 1 })

  check<T>(feed: string, signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    return this.#checks.run(feed, task, signal)
  }

  /** @param bytes of the list after decompression */
  import<T>(feed: string, bytes: number, signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    return (bytes > LARGE_BYTES ? this.#large : this.#small).run(feed, task, signal)
  }
}
