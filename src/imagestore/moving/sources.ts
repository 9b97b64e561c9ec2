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
    | { readonly kind: 'file'; readonly path: string; readonly info: Readonly<Record<string, unknown>> }
    | { readonly kind: 'wrong'; readonly reason: string }
}

/** Every file below a folder, in an order that is the same each time. Holds the names of one path of folders. */
export async function* filesIn(folder: string): AsyncGenerator<Item> {
  let number = 0
  async function* walk(below: string): AsyncGenerator<Item> {
    const entries = await readdir(join(folder, below), { withFileTypes: true })
    for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
      const label = join(below, entry.name)
      if (entry.isDirectory()) yield* walk(label)
      else if (entry.isFile()) {
        const content = { kind: 'file' as const, path: join(folder, label), info: { name: entry.name } }
        yield { number: ++number, label, content }
      }
    }
  }
  yield* walk('')
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
  // A list from elsewhere must not make this command read what lies beside its images.
  if (!path.startsWith(folder + sep))
    return { kind: 'wrong', reason: `${file} is not below the list's folder` }
  return { kind: 'file', path, info: { name: file.split('/').at(-1), ...info } }
}

function parsed(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}
