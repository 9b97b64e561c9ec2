import { setTimeout as pause } from 'node:timers/promises'
import { forEachConcurrent } from '../../lib/concurrency.ts'
import { secondsOf, type Clock } from '../../lib/clock.ts'
import { HttpError } from '../../lib/errors.ts'
import { hashOf } from '../image-hash.ts'
import { imageErrors } from '../errors.ts'
import { quotaError } from '../account-policy.ts'
import { completeInfo, isEpochSeconds, readInfo, storedBytes } from '../upload-input.ts'
import type { ImageStore } from '../store.ts'
import type { ImportItem } from './sources.ts'

/** Refused images that are reported individually. */
const MAX_FAULTS = 20
/** Attempts while the decoder is busy, with increasing pauses. */
const MAX_ATTEMPTS = 20
const PAUSE_MS = 250
/** Used if the source declares no media type. */
const DEFAULT_MIME = 'application/octet-stream'

export interface ImportTotals {
  readonly stored: number
  readonly refused: number
}

export interface ImageImport {
  readonly store: ImageStore
  readonly clock: Clock
  readonly accountId: number
  /** Largest image, in bytes. */
  readonly maxBytes: number
  /** Whether to remove metadata. */
  readonly strips: boolean
  /** Images processed at the same time, each of which is held in memory. */
  readonly concurrency: number
  readonly signal: AbortSignal
  /** Where to resume an interrupted import: after the image with this number. */
  readonly after?: ({ readonly number: number } & ImportTotals) | undefined
  /** Called for each image in order, when it and all before it are done. */
  readonly onProgress: (item: ImportItem, totals: ImportTotals) => Promise<void>
}

export interface ImportResult extends ImportTotals {
  /** The first images that were refused. */
  readonly faults: readonly { readonly label: string; readonly reason: string }[]
}

/** Stores images like uploads: validated, decoded and counted in the same way. */
export async function importImages(
  items: AsyncIterable<ImportItem>,
  options: ImageImport,
): Promise<ImportResult> {
  const { after, onProgress, signal } = options
  const begin = after ?? { number: 0, stored: 0, refused: 0 }
  let [stored, refused] = [begin.stored, begin.refused]
  const faults: { number: number; label: string; reason: string }[] = []
  /** Images whose progress has not been reported, in order: each waits for those before it. */
  const unreported: { readonly item: ImportItem; outcome?: 'stored' | 'refused' }[] = []

  async function* remaining() {
    for await (const item of items) {
      if (signal.aborted) return
      if (item.number <= begin.number) continue
      const entry: (typeof unreported)[number] = { item }
      unreported.push(entry)
      yield entry
    }
  }

  await forEachConcurrent(remaining(), options.concurrency, async (entry) => {
    const { item } = entry
    const reason = await storeOne(item, options)
    entry.outcome = reason === undefined ? 'stored' : 'refused'
    if (reason !== undefined) {
      faults.push({ number: item.number, label: item.label, reason })
      faults.sort((one, other) => one.number - other.number).splice(MAX_FAULTS)
    }
    for (let first = unreported[0]; first?.outcome !== undefined; first = unreported[0]) {
      unreported.shift()
      if (first.outcome === 'stored') stored++
      else refused++
      await onProgress(first.item, { stored, refused })
    }
  })
  return { stored, refused, faults }
}

/** Returns why the image was refused; undefined if it was stored. */
async function storeOne({ content }: ImportItem, options: ImageImport): Promise<string | undefined> {
  if (content.kind === 'invalid') return content.reason
  try {
    const { store, clock, accountId, maxBytes, strips, signal } = options
    const info = readInfo(content.info, { mime: DEFAULT_MIME, ip: '' })
    const date = content.info['date'] ?? undefined
    if (typeof info === 'string') return 'name or ip is not valid'
    if (date !== undefined && !isEpochSeconds(date)) return 'date is not valid'
    const complete = completeInfo(info, secondsOf(clock))
    const read = await content.read(maxBytes, signal)
    if (typeof read === 'string') return read
    const expected = content.info['hash']
    if (expected !== undefined && expected !== hashOf(read)) return 'not the bytes of its hash'
    const kept = storedBytes(read, strips)
    if (typeof kept === 'string') return 'damaged: nothing, or not built as its kind should be'
    for (let attempt = 1; ; attempt++) {
      const outcome = await store.upload({ accountId, ...kept, info: complete, date }, signal)
      if (outcome.kind === 'stored') return undefined
      if (outcome.kind === 'damaged') return `damaged: ${outcome.reason}`
      if (outcome.kind === 'banned') return imageErrors.image_banned().message
      if (outcome.kind === 'full') return quotaError(outcome, true).message
      if (outcome.kind === 'aborted') throw new Error('interrupted')
      if (attempt === MAX_ATTEMPTS) throw new Error('the decoder is busy')
      await pause(PAUSE_MS * attempt)
    }
  } catch (error) {
    if (error instanceof HttpError) return error.message
    throw error
  }
}
