import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { createInterface } from 'node:readline'

/** One image that is to be stored, or a line that names none. */
export interface Item {
  /** From 1 on; the same image has the same number as long as the source does not change. */
  readonly number: number
  /** How a person finds it: a path, or a line. */
  readonly label: string
  readonly content:
    | {
        readonly kind: 'file'
        readonly path: string | Buffer
        /** What it has to lie in when all links are followed; undefined where none were. */
        readonly within?: string
        readonly info: Readonly<Record<string, unknown>>
      }
    | { readonly kind: 'wrong'; readonly reason: string }
}

/**
 * Every file below a folder, in an order that is the same each time. Holds the names of one path of folders. Names are bytes:
 * those of old systems need not be UTF-8.
 * @throws what the file system has against the folder itself; of folders below it each is an item that is wrong
 */
export async function* filesIn(folder: string): AsyncGenerator<Item> {
  let number = 0
  async function* walk(path: Buffer, below: string): AsyncGenerator<Item> {
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
        const reason = unreadable(error)
        if (reason === undefined) throw error
        yield { number: ++number, label, content: { kind: 'wrong', reason } }
      }
    }
  }
  yield* walk(Buffer.from(resolve(folder)), '')
}

/** What the file system has against one file or folder, in words; undefined for what is not of that kind. */
export function unreadable(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  const code = String(error.code)
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'no such file'
  // What is wrong with all files, or with the disk, is told at once and gone on after.
  return ['EISDIR', 'EACCES', 'EPERM', 'ENXIO', 'ELOOP', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE'].includes(
    code,
  )
    ? `cannot be read: ${code}`
    : undefined
}

/**
 * The images that a list names, a JSON object a line: `file`, where it is relative to the list and below its folder, and what
 * is said of it. Empty lines are passed over.
 */
export async function* imagesListed(list: string): AsyncGenerator<Item> {
  const folder = resolve(dirname(list))
  let number = 0
  for await (const line of createInterface({ input: createReadStream(list), crlfDelay: Infinity })) {
    number++
    if (line.trim() === '') continue
    yield { number, label: `line ${number}`, content: contentOf(line, folder) }
  }
}

function contentOf(line: string, folder: string): Item['content'] {
  const info = parsed(line)
  if (info === undefined) return { kind: 'wrong', reason: 'no JSON object' }
  const { file } = info
  if (typeof file !== 'string' || file === '') return { kind: 'wrong', reason: 'file is missing' }
  const path = resolve(folder, file)
  // A list from elsewhere must not make this command read what lies beside its images: nor by links, which are followed later.
  if (!path.startsWith(join(folder, sep)))
    return { kind: 'wrong', reason: `${file} is not below the list's folder` }
  return { kind: 'file', path, within: folder, info: { name: file.split('/').at(-1), ...info } }
}

function parsed(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}
