import { createHash } from 'node:crypto'
import { readFile, rename, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createFileWith, makeFolder } from '../lib/private-files.ts'
import type { ImportCounts } from '../domainwatch/import/writer.ts'

export interface Checkpoint {
  readonly line: number
  readonly counts: ImportCounts
  /** The content at that position, for sources whose modification time does not show changes. */
  readonly at?: string | undefined
  /** When reading a list of the registry began, in milliseconds since 1970. */
  readonly asOf?: number | undefined
}

/**
 * Returns the progress of importing one file, kept in the data folder until the import is done, so that it can be resumed.
 * A file is identified by path, size and modification time, a bucket by its address.
 */
export async function checkpointsOf(data: string, file: string) {
  const folder = join(data, 'imports')
  await makeFolder(folder)
  const identity = createHash('sha256')
    .update(file.startsWith('s3://') ? file : await describeFile(file))
    .digest('hex')
  const path = join(folder, `${identity.slice(0, 32)}.json`)
  return {
    async read(): Promise<Checkpoint | undefined> {
      const text = await readFile(path, 'utf8').catch(() => undefined)
      return text === undefined ? undefined : parse(text)
    },
    // Not flushed: if it is lost, lines are imported again, which changes nothing.
    async write(checkpoint: Checkpoint): Promise<void> {
      await rm(`${path}.new`, { force: true })
      await createFileWith(`${path}.new`, JSON.stringify(checkpoint))
      await rename(`${path}.new`, path)
    },
    remove: () => rm(path, { force: true }),
  }
}

async function describeFile(file: string): Promise<string> {
  const { size, mtimeMs } = await stat(file)
  return `${resolve(file)}\n${size}\n${mtimeMs}`
}

function parse(text: string): Checkpoint | undefined {
  try {
    const { line, counts, at, asOf } = JSON.parse(text)
    const { read, added = 0, changed, refused } = counts
    const isRight = [line, read, added, changed, refused].every((value) => Number.isSafeInteger(value))
    if (!isRight) return undefined
    return {
      line,
      counts: { read, added, changed, refused },
      at: typeof at === 'string' ? at : undefined,
      asOf: Number.isSafeInteger(asOf) ? asOf : undefined,
    }
  } catch {
    return undefined
  }
}
