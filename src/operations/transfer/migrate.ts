import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import type { BlobStore } from '../../storage/blobs/blob-store.ts'
import type { Database } from '../../storage/database/database.ts'
import { copyState, isMarked, mark, setCopyState, unmark } from '../../storage/database/transfer-marks.ts'
import { copiedTables, tableNamed } from '../../storage/database/tables.ts'
import type { Progress } from '../../lib/progress.ts'
import { copyImages, imagesIn, isRecorded, type CopyResult } from './copy-images.ts'
import {
  isEmpty,
  ownerOf,
  refuse,
  type InstanceLocation,
  type OpenInstance,
  type Refusal,
} from './instance.ts'
import { rowsIn, syncTables } from './sync-tables.ts'

/** Passes until one finds no difference. Later passes take seconds, so a source that still changes is in use. */
const MAX_PASSES = 5
/** Keys looked up to find out whose images a store holds. */
const SAMPLE_KEYS = 1_000

export interface Migration {
  readonly open: OpenInstance
  readonly from: InstanceLocation
  readonly to: InstanceLocation
  /** Replaces the contents of the target, even if they belong to another instance. */
  readonly force: boolean
  readonly progress: Progress
}

export type MigrationOutcome =
  | {
      readonly kind: 'equal'
      readonly passes: number
      /** Rows written or removed in all passes; undefined if the database does not move. */
      readonly rows: number | undefined
      /** Of all passes; undefined if the images do not move. */
      readonly images: CopyResult | undefined
    }
  | Refusal

/** Moves an instance to another database, another blob store, or both. The source must not be in use at the end. */
export async function migrate({ open, from, to, force, progress }: Migration): Promise<MigrationOutcome> {
  const moved = {
    database: databaseName(from) !== databaseName(to),
    images: imagesName(from) !== imagesName(to),
  }
  if (!moved.database && !moved.images)
    return refuse('the target is the source: give --to-database-url, --to-blobs-url or --to-data')
  await using source = await open(from, { existing: true })
  await using target = await open(to)
  if (moved.database) {
    const refusal = await claim(source.database, target.database, force)
    if (refusal !== undefined) return refusal
  }
  if (moved.images && !force && (await isForeign(source.database, target.blobs))) {
    return refuse('the target holds images that the source does not know. --force adds those of the source')
  }
  const outcome = await repeatUntilEqual(runPass)
  if (outcome.kind === 'equal' && moved.database) await setCopyState(target.database, 'finished')
  return outcome

  async function runPass(
    pass: number,
  ): Promise<{ rows: number | undefined; images: CopyResult | undefined }> {
    const rows = moved.database
      ? await source.database.snapshot((view) =>
          syncTables(rowsIn(view), target.database, copiedTables, progress),
        )
      : undefined
    if (!moved.images) return { rows, images: undefined }
    // By the records of the copy: its images are needed even if the source has deleted them since.
    const records = rowsIn((moved.database ? target : source).database.scanner)
    progress.begin('images', await records.count(tableNamed('blobs')))
    const images = await copyImages(imagesIn(records), source.blobs, target, {
      // Keys are written once, so later passes need not verify again.
      check: pass === 1,
      isRecorded: (key) => isRecorded(source.database, key),
      progress,
    })
    progress.end()
    return { rows, images }
  }
}

async function repeatUntilEqual(
  run: (pass: number) => Promise<{ rows: number | undefined; images: CopyResult | undefined }>,
): Promise<MigrationOutcome> {
  let rows: number | undefined
  let images: CopyResult | undefined
  for (let pass = 1; pass <= MAX_PASSES; pass++) {
    const now = await run(pass)
    if (now.rows !== undefined) rows = (rows ?? 0) + now.rows
    // Faults are retried in each pass, so those of the last one count.
    if (now.images !== undefined) {
      const { copied = 0, copiedBytes = 0 } = images ?? {}
      images = {
        ...now.images,
        copied: now.images.copied + copied,
        copiedBytes: now.images.copiedBytes + copiedBytes,
      }
    }
    const changes = (now.rows ?? 0) + (now.images?.copied ?? 0) + (now.images?.gone ?? 0)
    if (changes === 0) return { kind: 'equal', passes: pass, rows, images }
  }
  return refuse('the source keeps changing. Stop the service and run it again: it copies only the changes.')
}

/** Checks that the target may be overwritten, and marks it so that no service uses it until it is complete. */
async function claim(source: Database, target: Database, force: boolean): Promise<Refusal | undefined> {
  const token = `probe ${randomBytes(9).toString('hex')}`
  await mark(target, token)
  const same = await isMarked(source, token)
  await unmark(target, token)
  if (same) return refuse('both addresses are of the same database')
  if (!force && !(await isEmpty(target))) {
    const owner = await ownerOf(target)
    const isOurs = owner === '' || owner === (await ownerOf(source))
    if (!isOurs || (await copyState(target)) === undefined)
      return refuse('the target holds the data of another instance. --force replaces all of it')
  }
  await setCopyState(target, 'unfinished')
  return undefined
}

/** Whether a store holds images, none of which (in a sample) the source has a record of. */
async function isForeign(source: Database, blobs: BlobStore): Promise<boolean> {
  let seen = 0
  for await (const { key } of blobs.keys()) {
    if (await isRecorded(source, key)) return false
    if (++seen === SAMPLE_KEYS) break
  }
  return seen > 0
}

const databaseName = ({ databaseUrl, data }: InstanceLocation) =>
  databaseUrl === '' ? resolve(data) : databaseUrl

function imagesName({ blobsUrl, data }: InstanceLocation): string {
  if (blobsUrl === undefined) return resolve(data)
  return JSON.stringify([blobsUrl.endpoint, blobsUrl.bucket, blobsUrl.prefix])
}
