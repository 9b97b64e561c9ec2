import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { createInterface } from 'node:readline'

/** An image to be imported, or an entry of the source that is invalid. */
export interface ImportItem {
  /** From 1. Stable as long as the source does not change. */
  readonly number: number
  /** Identifies it for people: a path, or a line number. */
  readonly label: string
  readonly content:
    | {
        readonly kind: 'file'
        readonly path: string | Buffer
        /** The folder that must contain the file after resolving symbolic links; undefined if none were followed. */
        readonly root?: string
        readonly info: Readonly<Record<string, unknown>>
      }
    | { readonly kind: 'invalid'; readonly reason: string }
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
      if (entry.isFile())
        yield { number: ++number, label, content: { kind: 'file', path: at, info: { name } } }
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
export function accessFault(error: unknown): string | undefined {
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
 * Yields the images in a list with a JSON object per line: `file`, relative to the folder of the list and below it, and its
 * description. Skips empty lines.
 */
export async function* listedImages(list: string): AsyncGenerator<ImportItem> {
  const folder = resolve(dirname(list))
  let number = 0
  for await (const line of createInterface({ input: createReadStream(list), crlfDelay: Infinity })) {
    number++
    if (line.trim() === '') continue
    yield { number, label: `line ${number}`, content: contentOf(line, folder) }
  }
}

function contentOf(line: string, folder: string): ImportItem['content'] {
  const info = parseObject(line)
  if (info === undefined) return { kind: 'invalid', reason: 'no JSON object' }
  const { file } = info
  if (typeof file !== 'string' || file === '') return { kind: 'invalid', reason: 'file is missing' }
  const path = resolve(folder, file)
  // A list from elsewhere must not make this command read other files, nor by links, which are resolved later.
  if (!path.startsWith(join(folder, sep)))
    return { kind: 'invalid', reason: `${file} is not below the list's folder` }
  return { kind: 'file', path, root: folder, info: { name: file.split('/').at(-1), ...info } }
}

function parseObject(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}
