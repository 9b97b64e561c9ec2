import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { forEachConcurrent } from '../../lib/concurrency.ts'
import type { Clock } from '../../lib/clock.ts'
import { HttpError } from '../../lib/errors.ts'
import { hashOf } from '../hash.ts'
import { storedBytes } from '../stored-bytes.ts'
import { fullRefusal, isSeconds, readExpires, readInfo } from '../info.ts'
import { secondsOf } from '../lifetime.ts'
import type { ImageStore } from '../store.ts'
import { unreadable, type Item } from './sources.ts'

/** Refusals that are told one by one. */
const MAX_FAULTS = 20
/** A store that is busy is asked again so often, a little later each time. */
const ATTEMPTS = 20
const PAUSE_MS = 250
/** Nobody has to say what the bytes tell. */
const UNTOLD = 'application/octet-stream'

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
  /** Without metadata. */
  readonly strips: boolean
  /** Images in hand at a time: each holds its bytes in memory. */
  readonly atATime: number
  readonly signal: AbortSignal
  /** Where an interrupted import goes on: behind the image of this number. */
  readonly after?: ({ readonly number: number } & ImportTotals) | undefined
  /** Told of each image in their order, when all up to it are done. */
  readonly done: (item: Item, totals: ImportTotals) => Promise<void>
}

export interface ImportResult extends ImportTotals {
  /** The first that were refused. */
  readonly faults: readonly { readonly label: string; readonly reason: string }[]
}

/** Stores images as uploads are: checked, decoded and counted in the same way. */
export async function importImages(items: AsyncIterable<Item>, options: ImageImport): Promise<ImportResult> {
  const { after, done, signal } = options
  const begin = after ?? { number: 0, stored: 0, refused: 0 }
  let [stored, refused] = [begin.stored, begin.refused]
  const faults: { number: number; label: string; reason: string }[] = []
  /** Those that were taken and not told of, in their order: what comes after one that is in hand waits for it. */
  const taken: { readonly item: Item; outcome?: 'stored' | 'refused' }[] = []

  async function* fresh() {
    for await (const item of items) {
      if (signal.aborted) return
      if (item.number <= begin.number) continue
      const entry: (typeof taken)[number] = { item }
      taken.push(entry)
      yield entry
    }
  }

  await forEachConcurrent(fresh(), options.atATime, async (entry) => {
    const { item } = entry
    const reason = await storeOne(item, options)
    entry.outcome = reason === undefined ? 'stored' : 'refused'
    if (reason !== undefined) {
      faults.push({ number: item.number, label: item.label, reason })
      faults.sort((one, other) => one.number - other.number).splice(MAX_FAULTS)
    }
    for (let first = taken[0]; first?.outcome !== undefined; first = taken[0]) {
      taken.shift()
      if (first.outcome === 'stored') stored++
      else refused++
      await done(first.item, { stored, refused })
    }
  })
  return { stored, refused, faults }
}

/** @returns why it was refused */
async function storeOne({ content }: Item, options: ImageImport): Promise<string | undefined> {
  if (content.kind === 'wrong') return content.reason
  try {
    const { store, clock, accountId, maxBytes, strips, signal } = options
    const info = readInfo(content.info, { mime: UNTOLD, ip: '' })
    const date = content.info['date'] ?? undefined
    if (info === undefined) return 'name or ip is not valid'
    if (date !== undefined && !isSeconds(date)) return 'date is not valid'
    const expires = readExpires(info.expires, secondsOf(clock))
    const read = await readFile(content, maxBytes)
    if (typeof read === 'string') return read
    const expected = content.info['hash']
    if (expected !== undefined && expected !== hashOf(read)) return 'not the bytes of its hash'
    const kept = storedBytes(read, strips)
    if (kept === undefined) return 'damaged: nothing, or not built as its kind should be'
    for (let attempt = 1; ; attempt++) {
      const outcome = await store.upload({ accountId, ...kept, info: { ...info, expires }, date }, signal)
      if (outcome.kind === 'stored') return undefined
      if (outcome.kind === 'damaged') return `damaged: ${outcome.reason}`
      if (outcome.kind === 'full') return fullRefusal(outcome).message
      if (outcome.kind === 'aborted') throw new Error('interrupted')
      if (attempt === ATTEMPTS) throw new Error('the decoder is busy')
      await pause(PAUSE_MS * attempt)
    }
  } catch (error) {
    if (error instanceof HttpError) return error.message
    throw error
  }
}

/** @returns why it is not read */
async function readFile(
  { path, within }: Extract<Item['content'], { kind: 'file' }>,
  maxBytes: number,
): Promise<Buffer | string> {
  try {
    const real = within === undefined ? path : await realpath(path)
    if (within !== undefined && !real.toString().startsWith(join(await realpath(within), sep)))
      return "a link out of the list's folder"
    return (await readSmall(real, maxBytes)) ?? `larger than ${maxBytes} bytes`
  } catch (error) {
    const reason = unreadable(error)
    if (reason === undefined) throw error
    return reason
  }
}

/** Never reads more than it may, whatever a file grows to meanwhile. */
async function readSmall(path: string | Buffer, maxBytes: number): Promise<Buffer | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const { size } = await file.stat()
    if (size > maxBytes) return undefined
    const bytes = Buffer.alloc(size)
    let length = 0
    while (length < size) {
      const { bytesRead } = await file.read(bytes, length)
      if (bytesRead === 0) break
      length += bytesRead
    }
    return bytes.subarray(0, length)
  } finally {
    await file.close()
  }
}
