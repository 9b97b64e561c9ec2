import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import type { Progress } from '../../lib/concurrency.ts'
import { logState } from '../../storage/database/changes/change-log.ts'
import type { Database, Reader } from '../../storage/database/database.ts'
import { SCHEMA } from '../../storage/database/migrations/index.ts'
import { getTables, replaceContents } from '../../storage/database/tables.ts'
import { isMarked, mark, setCopyState, unmark } from '../../storage/database/transfer-marks.ts'
import { instance } from '../../imagestore/queries.ts'
import { copyImages, type CopyResult } from './copy-images.ts'
import {
  getDump,
  getImages,
  withRemovalsHeld,
  isReplaceable,
  getOwner,
  type Instance,
  type InstanceLocation,
  openInstance,
  Refusal,
} from './instance.ts'

export interface Migration {
  readonly from: InstanceLocation
  readonly to: InstanceLocation
  /** Replaces the contents of the target, even if they belong to another instance. */
  readonly force: boolean
  readonly progress: Progress
}

export interface Migrated {
  /** Undefined if the database does not move. */
  readonly rows: number | undefined
  /** Undefined if the images do not move. */
  readonly images: CopyResult | undefined
  /** Whether the source recorded changes meanwhile, which the copy lacks. Then no service starts on the copy. */
  readonly isOutdated: boolean
}

/**
 * Copies an instance to another database, another blob store, or both: a backup that is restored while it is read.
 * @throws Refusal
 */
export async function migrate({ from, to, force, progress }: Migration): Promise<Migrated> {
  const moves = {
    database: databaseName(from) !== databaseName(to),
    images: imagesName(from) !== imagesName(to),
  }
  if (!moves.database && !moves.images)
    throw new Refusal('the target is the source: give --to-database-url, --to-blobs-url or --to-data')
  await using source = await openInstance(from, { existing: true })
  await using target = await openInstance(to)
  if (moves.database) {
    if (await isSame(source.database, target.database))
      throw new Refusal('both addresses are of the same database')
    if (!force && !(await isReplaceable(target.database, await getOwner(source.database))))
      throw new Refusal('the target holds the data of another instance. --force replaces all of it')
  }
  if (moves.images && !force && (await isForeign(source, target)))
    throw new Refusal('the target holds the images of another instance. --force adds those of the source')

  return await withRemovalsHeld(source.database, async () => {
    const before = await newestChange(source.database)
    const rows = moves.database ? await copyRows(source.database, target.database, progress) : undefined
    // By the records of the copy: its images are needed even if the source has deleted them since.
    const { database } = moves.database ? target : source
    const contents = await getDump(database, database.scanner)
    const count = contents.tables.find(({ name }) => name === 'blobs')?.rows ?? 0
    const images = moves.images
      ? await copyImages(getImages(contents), source.blobs, target, { count, check: true, progress })
      : undefined
    progress.end()
    const isOutdated = (await newestChange(source.database)) !== before
    if (moves.database && !isOutdated) await setCopyState(target.database, 'finished')
    return { rows, images, isOutdated }
  })
}

async function copyRows(source: Database, target: Database, progress: Progress): Promise<number> {
  await setCopyState(target, 'unfinished')
  return source.snapshot(async (view) =>
    replaceContents(target, getTables(SCHEMA), await getDump(source, view), progress),
  )
}

const newestChange = async (reader: Reader) => (await reader.first(logState()))?.newest

/** Whether two addresses lead to the same database. */
async function isSame(source: Database, target: Database): Promise<boolean> {
  const token = `probe ${randomBytes(9).toString('hex')}`
  await mark(target, token)
  const isThere = await isMarked(source, token)
  await unmark(target, token)
  return isThere
}

/** Whether the target's store of images belongs to another database. */
async function isForeign(source: Instance, target: Instance): Promise<boolean> {
  const owner = await target.blobs.owner()
  return owner !== undefined && owner !== (await source.database.first(instance()))?.id
}

const databaseName = ({ databaseUrl, data }: InstanceLocation) =>
  databaseUrl === '' ? resolve(data) : databaseUrl

function imagesName({ blobsUrl, data }: InstanceLocation): string {
  if (blobsUrl === undefined) return resolve(data)
  return JSON.stringify([blobsUrl.endpoint, blobsUrl.bucket, blobsUrl.prefix])
}
