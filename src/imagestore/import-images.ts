import { constants, createReadStream } from 'node:fs'
import { open, readdir, realpath } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { createInterface } from 'node:readline'
import { isObject, parseJson } from '../lib/json.ts'
import { setTimeout as pause } from 'node:timers/promises'
import type { openObjects } from '../storage/blobs/s3/store.ts'
import { forEachConcurrent } from '../lib/concurrency.ts'
import { secondsOf, type Clock } from '../lib/clock.ts'
import { HttpError } from '../lib/errors.ts'
import { hashOf } from './image-fields.ts'
import { imageErrors } from './errors.ts'
import { quotaError } from './account-policy.ts'
import { completeInfo, isEpochSeconds, readInfo, storedBytes } from './upload-input.ts'
import type { ImageStore } from './store.ts'

/** Returns the bytes of an image, or why there are none. Rejects if the whole source cannot be read. */
type ReadImage = (maxBytes: number, signal: AbortSignal) => Promise<Buffer | string>

/** Returns what is at an address, or why it could not be fetched. */
export type FetchImage = (url: string, maxBytes: number, signal: AbortSignal) => Promise<Buffer | string>

/** An image to be imported, or an entry of the source that is invalid. */
export interface ImportItem {
  /** From 1. Stable as long as the source does not change. */
  readonly number: number
  /** Identifies it for people: a path, a key, an address or a line number. */
  readonly label: string
  readonly content:
    | { readonly kind: 'image'; readonly info: Readonly<Record<string, unknown>>; readonly read: ReadImage }
    | { readonly kind: 'invalid'; readonly reason: string }
}

/** Yields every object of a bucket, in a stable order. */
export async function* objectsIn(objects: ReturnType<typeof openObjects>): AsyncGenerator<ImportItem> {
  let number = 0
  for await (const { name, size } of objects.list()) {
    const read: ReadImage = async (maxBytes, signal) =>
      size > maxBytes ? tooLarge(maxBytes) : ((await objects.read(name, size, signal)) ?? 'no such object')
    yield { number: ++number, label: name, content: { kind: 'image', info: { name: lastPart(name) }, read } }
  }
}

const lastPart = (path: string) => path.split('/').at(-1) ?? path
const tooLarge = (maxBytes: number) => `larger than ${maxBytes} bytes`

/** @param root the folder that must contain the file after resolving symbolic links; undefined if none were followed */
async function readFile(path: string | Buffer, root: string | undefined, maxBytes: number) {
  try {
    const real = root === undefined ? path : await realpath(path)
    if (root !== undefined && !real.toString().startsWith(join(await realpath(root), sep)))
      return "a link out of the list's folder"
    return (await readUpTo(real, maxBytes)) ?? tooLarge(maxBytes)
  } catch (error) {
    const reason = accessFault(error)
    if (reason === undefined) throw error
    return reason
  }
}

/** Reads at most `maxBytes`, even if the file grows in the meantime. Undefined if it is larger. */
async function readUpTo(path: string | Buffer, maxBytes: number): Promise<Buffer | undefined> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
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
}

/**
 * Yields every file below a folder in a stable order. Memory holds the names of one path of folders. Names are bytes,
 * because those of old systems need not be UTF-8.
 * @throws errors of the file system for the folder itself. Folders below it that cannot be read are invalid items.
 */
export async function* filesIn(folder: string): AsyncGenerator<ImportItem> {
  let number = 0
  async function* walk(path: Buffer, below: string): AsyncGenerator<ImportItem> {
    const entries = await readdir(path, { withFileTypes: true, encoding: 'buffer' })
    for (const entry of entries.toSorted((one, other) => Buffer.compare(one.name, other.name))) {
      const name = entry.name.toString()
      const label = join(below, name)
      const at = Buffer.concat([path, Buffer.from('/'), entry.name])
      const read: ReadImage = (maxBytes) => readFile(at, undefined, maxBytes)
      if (entry.isFile()) yield { number: ++number, label, content: { kind: 'image', info: { name }, read } }
      if (!entry.isDirectory()) continue
      try {
        yield* walk(at, label)
      } catch (error) {
        const reason = accessFault(error)
        if (reason === undefined) throw error
        yield { number: ++number, label, content: { kind: 'invalid', reason } }
      }
    }
  }
  yield* walk(Buffer.from(resolve(folder)), '')
}

const FILE_ERRORS = ['EISDIR', 'EACCES', 'EPERM', 'ENXIO', 'ELOOP', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE']

/** Describes an error that concerns one file or folder; undefined for any other error. */
function accessFault(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  const code = String(error.code)
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'no such file'
  // Errors of the disk, or of all files, end the import.
  return FILE_ERRORS.includes(code) ? `cannot be read: ${code}` : undefined
}

/**
 * Yields the images in a list. A line is an address, or a JSON object of an `url`, or of a `file` relative to the folder of the list and
 * below it, with what is known of the image. Skips empty lines.
 */
export async function* listedImages(list: string, fetchImage: FetchImage): AsyncGenerator<ImportItem> {
  const folder = resolve(dirname(list))
  let number = 0
  for await (const line of createInterface({ input: createReadStream(list), crlfDelay: Infinity })) {
    number++
    if (line.trim() === '') continue
    yield { number, label: `line ${number}`, content: toContent(line.trim(), folder, fetchImage) }
  }
}

function toContent(line: string, folder: string, fetchImage: FetchImage): ImportItem['content'] {
  const info = /^https?:\/\//i.test(line) ? { url: line } : parseJson(line)
  if (!isObject(info)) return { kind: 'invalid', reason: 'no JSON object and no address' }
  const { file, url } = info
  if (typeof url === 'string') {
    const name = lastPart(URL.parse(url)?.pathname ?? '')
    const read: ReadImage = (maxBytes, signal) => fetchImage(url, maxBytes, signal)
    return { kind: 'image', info: { name: name === '' ? url : decoded(name), ...info }, read }
  }
  if (typeof file !== 'string' || file === '') return { kind: 'invalid', reason: 'file is missing' }
  const path = resolve(folder, file)
  // A list from elsewhere must not make this command read other files, nor by links, which are resolved later.
  if (!path.startsWith(join(folder, sep)))
    return { kind: 'invalid', reason: `${file} is not below the list's folder` }
  const read: ReadImage = (maxBytes) => readFile(path, folder, maxBytes)
  return { kind: 'image', info: { name: lastPart(file), ...info }, read }
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

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
  readonly maxBytes: number
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
  const faults: { label: string; reason: string }[] = []
  /** Settles when all images so far are stored and reported, in their order. */
  let reported = Promise.resolve()

  async function* remaining() {
    for await (const item of items) {
      if (signal.aborted) return
      if (item.number > begin.number) yield item
    }
  }

  async function report(item: ImportItem, outcome: Promise<string | undefined>, before: Promise<void>) {
    const [reason] = await Promise.all([outcome, before])
    if (reason === undefined) stored++
    else {
      refused++
      if (faults.length < MAX_FAULTS) faults.push({ label: item.label, reason })
    }
    await onProgress(item, { stored, refused })
  }

  await forEachConcurrent(remaining(), options.concurrency, (item) => {
    reported = report(item, storeOne(item, options), reported)
    return reported
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
