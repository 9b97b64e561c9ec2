import { createHash } from 'node:crypto'
import { readFile, rename, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { ImportCounts, Reached } from '../domainwatch/import/writer.ts'
import { makeFolder, createFileWith } from '../lib/private-files.ts'
import { reportFault, type OpenInstance } from '../operations/transfer/instance.ts'
import { keepBeforeUpgrade } from '../server/before-upgrade.ts'
import type { Config } from '../server/config/config.ts'
import { openDatabase } from '../server/open-database.ts'
import { openBlobs } from '../storage/blobs/open.ts'
import { Staging } from '../storage/blobs/staging.ts'
import type { Database, OpenOptions } from '../storage/database/database.ts'
import { fail, failureLine } from './output.ts'

/** Runs `use` with the database of the instance, and closes it. A database that cannot be opened is reported. */
export async function withDatabase(
  config: Config,
  options: OpenOptions,
  use: (database: Database) => Promise<void>,
): Promise<void> {
  await using database = await openDatabase(config, options).catch((error: unknown) => {
    fail(`could not open the database: ${failureLine(error)}`)
    return undefined
  })
  if (database === undefined) return
  await use(database)
}

/** Returns a controller that aborts at SIGTERM or SIGINT. A second signal ends the process. */
export function abortOnSignal(): AbortController {
  const stopping = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopping.abort())
  return stopping
}

/** Options of commands that upgrade an older database: they keep it as it was, and report it. */
export function upgrading(config: Config): Pick<OpenOptions, 'beforeMigration' | 'onMigrated'> {
  const report = (text: string) => console.error(`catalejo: ${text}`)
  return {
    beforeMigration: keepBeforeUpgrade(config, { info: report, warn: report }),
    onMigrated: (from, to) => report(`migrated the database from schema ${from} to ${to}`),
  }
}

/** Opens the database and images of an instance, without the service. */
export const openInstance: OpenInstance = async (location, options = {}) => {
  const data = resolve(location.data)
  if (options.existing !== true) await makeFolder(data)
  await using opening = new AsyncDisposableStack()
  const database = opening.use(await openDatabase(location, options))
  const staging = await Staging.open(join(data, 'staging'), { flush: location.blobsUrl === undefined })
  const blobs = opening.use(await openBlobs(location.blobsUrl, join(data, 'blobs'), staging, reportFault))
  const opened = opening.move()
  return { database, blobs: blobs.store, staging, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

export interface Checkpoint {
  readonly line: number
  readonly counts: ImportCounts
  /** Names of the following lines that are stored already. */
  readonly part?: Reached['part']
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
    const { line, counts, part, at, asOf } = JSON.parse(text)
    const { read, added = 0, changed, refused } = counts
    const isRight = [line, read, added, changed, refused].every((value) => Number.isSafeInteger(value))
    if (!isRight) return undefined
    const isPart = Number.isSafeInteger(part?.to) && typeof part.name === 'string'
    return {
      line,
      counts: { read, added, changed, refused },
      part: isPart ? { to: part.to, name: part.name } : undefined,
      at: typeof at === 'string' ? at : undefined,
      asOf: Number.isSafeInteger(asOf) ? asOf : undefined,
    }
  } catch {
    return undefined
  }
}
