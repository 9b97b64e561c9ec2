import { join, resolve } from 'node:path'
import { systemClock, type Clock } from '../../lib/clock.ts'
import { asError } from '../../lib/errors.ts'
import { makeFolder } from '../../lib/private-files.ts'
import type { BlobStore } from '../../storage/blobs/blob-store.ts'
import { openBlobs, reasonOf } from '../../storage/blobs/open.ts'
import type { S3Location } from '../../storage/blobs/s3/location.ts'
import { Staging } from '../../storage/blobs/staging.ts'
import type { Database, Reader, OpenOptions } from '../../storage/database/database.ts'
import { SCHEMA } from '../../storage/database/migrations/index.ts'
import { openDatabase, type DatabaseLocation } from '../../storage/database/open.ts'
import { countRows, toPages, type Contents, isCopied, getTables } from '../../storage/database/tables.ts'
import { copyState, beginHold, endHold, prolongHold } from '../../storage/database/transfer-marks.ts'
import { firstAccount, backupRuns, recordRun, type BackupRun, type RunKind } from '../queries.ts'
import type { ImageBytes } from './copy-images.ts'

/** Where an instance keeps its data. */
export interface InstanceLocation extends DatabaseLocation {
  /** Undefined for files in `data`. */
  readonly blobsUrl: S3Location | undefined
}

/** An instance's database and images, without the service. */
export interface Instance extends AsyncDisposable {
  readonly database: Database
  readonly blobs: BlobStore
  readonly staging: Staging
}

/**
 * Opens the database and images of an instance.
 * @param options `schema`: create or migrate the database up to this version only. `existing`: reject a database that does not
 *   exist or has another version
 */
export async function openInstance(
  location: InstanceLocation,
  options: Pick<OpenOptions, 'schema' | 'existing'> = {},
): Promise<Instance> {
  const data = resolve(location.data)
  if (options.existing !== true) await makeFolder(data)
  await using opening = new AsyncDisposableStack()
  const database = opening.use(await openDatabase(location, options))
  const staging = await Staging.open(join(data, 'staging'), { flush: location.blobsUrl === undefined })
  const blobs = opening.use(await openBlobs(location.blobsUrl, join(data, 'blobs'), staging, reportFault))
  const opened = opening.move()
  return { database, blobs: blobs.store, staging, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

/** Says in words for the operator why a command copies nothing. */
export class Refusal extends Error {}

/** Logs a fault of the image store that will be retried, so that an operator sees why a command is waiting. */
export function reportFault(operation: string, error: Error): void {
  console.error(`the image store failed (${operation}): ${reasonOf(error)}`)
}

/** Returns what identifies an instance for its lifetime: its first account. Empty if it has none. */
export async function getOwner(reader: Reader): Promise<string> {
  const account = await reader.first(firstAccount())
  return account === undefined ? '' : `${account.name} ${account.created_at}`
}

/** Whether a database may be replaced by a copy of an instance: it is empty, or an earlier copy that was never served. */
export async function isReplaceable(database: Database, owner: string): Promise<boolean> {
  const present = await getOwner(database)
  return present === '' || (present === owner && (await copyState(database)) !== undefined)
}

/**
 * How long the hold of a killed command delays removals. The clocks of the nodes may differ by this minus the renewal interval.
 */
const HOLD_MS = 180_000
const RENEW_HOLD_MS = 30_000

/** Runs `work` while no node removes the bytes of images, so that those of a view of the records stay until they are copied. */
export async function withRemovalsHeld<T>(database: Database, work: () => Promise<T>): Promise<T> {
  const until = await beginHold(database, systemClock.now(), systemClock.now() + HOLD_MS)
  if (until !== undefined) {
    const end = new Date(until).toISOString()
    throw new Refusal(
      `another backup or migration is running, or was interrupted: try again, at the latest after ${end}`,
    )
  }
  // A failure is tolerated: the next renewal may succeed, and an image that is removed too early is reported missing.
  const timer = setInterval(
    () => void prolongHold(database, systemClock.now() + HOLD_MS).catch(() => {}),
    RENEW_HOLD_MS,
  )
  try {
    return await work()
  } finally {
    clearInterval(timer)
    await endHold(database).catch(() => {})
  }
}

/** Returns all rows of a database that are copied. @param view sees the database as of one moment */
export async function getDump({ dialect }: Database, view: Reader, schema = SCHEMA): Promise<Contents> {
  const tables = []
  for (const table of getTables(schema).filter(isCopied))
    tables.push({ ...table, rows: await countRows(view, table.name) })
  return { tables, pages: (table) => toPages(view, dialect, table) }
}

/** Lists the bytes of all recorded images, ordered by hash. */
export async function* getImages(contents: Contents): AsyncGenerator<ImageBytes> {
  for await (const { hash, key, size } of toRows(contents, 'blobs'))
    yield { hash: String(hash), key: String(key), size: Number(size) }
}

/** Yields the rows of a table by the names of their columns. */
export async function* toRows(
  { pages, tables }: Contents,
  name: string,
): AsyncGenerator<Readonly<Record<string, unknown>>> {
  const table = tables.find((one) => one.name === name)
  if (table === undefined) return
  const columns = Object.keys(table.columns)
  for await (const page of pages(table)) {
    for (const line of page) {
      const values: readonly unknown[] = JSON.parse(line)
      yield Object.fromEntries(columns.map((column, i) => [column, values[i]]))
    }
  }
}

export type { BackupRun, RunKind }

/** Returns the last run of each kind. */
export const lastRuns = (database: Database): Promise<BackupRun[]> => database.all(backupRuns())

/**
 * Does `work` and records how it ended, for metrics and the next regular run.
 * @param work returns why it failed, if it did
 */
export async function recorded<T>(
  database: Database,
  kind: RunKind,
  work: () => Promise<T>,
  failureOf: (result: T) => string | undefined,
  clock: Clock = systemClock,
): Promise<T> {
  const attempted_at = clock.now()
  const start = performance.now()
  const record = (error: string | undefined) => {
    const duration_ms = Math.round(performance.now() - start)
    return database.transaction((tx) => tx.run(recordRun(kind, attempted_at, duration_ms, error ?? null)))
  }
  try {
    const result = await work()
    const failure = failureOf(result)
    const recording = record(failure)
    // The database may be what failed.
    await (failure === undefined ? recording : recording.catch(() => {}))
    return result
  } catch (error) {
    const { name, message } = asError(error)
    // Work that was interrupted is begun again.
    if (name !== 'AbortError') await record(message).catch(() => {})
    throw error
  }
}
