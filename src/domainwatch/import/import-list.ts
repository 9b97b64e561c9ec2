import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import type { Gate } from '../../lib/gate.ts'
import { importLines, type ImportOptions, type ImportOutcome } from './importer.ts'
import { readLines, SourceFault, bytesOf, TooLargeFault } from './source.ts'
import { tooLarge, WEB_PAGE } from '../../deliveries/download.ts'
import { ListFault } from '../../lib/errors.ts'
import type { ImportTarget } from './writer.ts'

/** Bytes in which a web page shows its first tag. */
const HEAD_BYTES = 1_024
/** Lists are read and sorted in parts of some milliseconds, between which requests are served. */
const PIECE_BYTES = 8_192
const MAX_BUFFERED_ROWS = 5_000

/** A list as a feed downloaded it or a member uploaded it. */
interface ReceivedList
  extends
    Pick<ImportOptions, 'format' | 'zone' | 'isDelimited'>,
    Pick<ImportOptions['list'], 'source' | 'window' | 'at'> {
  readonly path: string
}

interface ImportListOptions extends Pick<ImportOptions, 'after' | 'isDry' | 'stored'> {
  /** Imports share the processor and the writer with requests. */
  readonly gate: Gate<string>
  /** Whose turn it is: clients import in turn. */
  readonly client: string
  /** Maximum size after decompression. */
  readonly maxBytes: number
  readonly signal: AbortSignal
  /** Called after each transaction with the share of the file that is stored, from 0 to 1. */
  readonly onProgress?: (share: number) => void
}

export type ImportedList = Extract<ImportOutcome, { kind: 'imported' }>

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
  { path, source, window, at, ...received }: ReceivedList,
  target: ImportTarget,
  { gate, client, maxBytes, signal, onProgress = () => {}, ...options }: ImportListOptions,
): Promise<ImportedList> {
  const work = async () => {
    const digest = await readDigest(path, maxBytes, signal)
    const { size } = await stat(path)
    let readBytes = 0
    const bytes = toContent(path, undefined, (count) => void (readBytes += count))
    const outcome = await importLines(readLines(inSmallPieces(bytes, signal)), target, {
      ...received,
      ...options,
      restores: false,
      list: { source, window, at, digest, isForced: false },
      maxBufferedRows: MAX_BUFFERED_ROWS,
      signal,
      source: { read: () => readBytes, stored: (count) => onProgress(size === 0 ? 1 : count / size) },
    })
    if (outcome.kind === 'unknown-format') throw new ListFault('La lista tiene un formato desconocido')
    if (outcome.cutOff !== undefined) throw outcome.cutOff
    return outcome
  }
  return gate.run(client, work, signal)
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
