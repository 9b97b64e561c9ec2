import { constants, createReadStream } from 'node:fs'
import { open, readdir, realpath } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { createInterface } from 'node:readline'
import { isObject, parseJson } from '../../lib/json.ts'

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

/** Objects of a bucket, in a stable order. */
export interface ImageObjects {
  list(): AsyncIterable<{ readonly name: string; readonly size: number }>
  /** Undefined if there is no such object. */
  read(name: string, size: number, signal: AbortSignal): Promise<Buffer | undefined>
}

/** Yields every object of a bucket. */
export async function* objectsIn(objects: ImageObjects): AsyncGenerator<ImportItem> {
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

/** Describes an error that concerns one file or folder; undefined for any other error. */
function accessFault(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  const code = String(error.code)
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'no such file'
  // Errors of the disk, or of all files, end the import.
  return ['EISDIR', 'EACCES', 'EPERM', 'ENXIO', 'ELOOP', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE'].includes(
    code,
  )
    ? `cannot be read: ${code}`
    : undefined
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
