import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import type { BlobStore } from '../../storage/blobs/blob-store.ts'
import type { Database } from '../../storage/database/database.ts'
import { copyState, isMarked, mark, setCopyState, unmark } from '../../storage/database/transfer-marks.ts'
import { copiedTables } from '../../storage/database/tables.ts'
import { copyImages, type CopyResult } from './images.ts'
import { openInstance, type Place } from './instance.ts'
import { makeEqual } from './merge.ts'
import { rowsIn } from './pages.ts'
import type { Progress } from '../../lib/progress.ts'
import { blobsTable, imagesIn, isEmpty, isRecorded, ownerOf } from './records.ts'

/** Passes until one finds nothing to do. One that only brings up to date takes seconds, so a source that still changes is in use. */
const MAX_PASSES = 5
/** Names looked at to tell whose images a store holds. */
const SAMPLE = 1_000

export interface Migration {
  readonly from: Place
  readonly to: Place
  /** Replaces what the target holds, whosever it is. */
  readonly force: boolean
  readonly progress: Progress
}

export type MigrationOutcome =
  | {
      readonly kind: 'equal'
      readonly passes: number
      /** Rows written or removed, in all passes; undefined when the database stays where it is. */
      readonly rows: number | undefined
      /** Of all passes; undefined when they stay where they are. */
      readonly images: CopyResult | undefined
    }
  /** The source was written to during each pass. */
  | { readonly kind: 'changing' }
  | {
      readonly kind: 'refused'
      readonly reason: 'nothing-to-move' | 'same-database' | 'own-data' | 'own-images'
    }

export async function migrate({ from, to, force, progress }: Migration): Promise<MigrationOutcome> {
  const moved = {
    database: databaseName(from) !== databaseName(to),
    images: imagesName(from) !== imagesName(to),
  }
  if (!moved.database && !moved.images) return { kind: 'refused', reason: 'nothing-to-move' }
  const source = await openInstance(from, { existing: true })
  try {
    const target = await openInstance(to)
    try {
      if (moved.database) {
        const refusal = await claim(source.database, target.database, force)
        if (refusal !== undefined) return { kind: 'refused', reason: refusal }
      }
      if (moved.images && !force && (await isForeign(source.database, target.blobs))) {
        return { kind: 'refused', reason: 'own-images' }
      }
      const outcome = await repeat((pass) => runPass(pass))
      if (outcome.kind === 'equal' && moved.database) await setCopyState(target.database, 'finished')
      return outcome
    } finally {
      await target.close()
    }

    async function runPass(
      pass: number,
    ): Promise<{ rows: number | undefined; images: CopyResult | undefined }> {
      const rows = moved.database
        ? await source.database.snapshot((view) =>
            makeEqual(rowsIn(view), target.database, copiedTables, progress),
          )
        : undefined
      if (!moved.images) return { rows, images: undefined }
      // The copy's own records, so that what it needs is there, whatever became of it at the source.
      const records = rowsIn((moved.database ? target : source).database.scanner)
      progress.begin('images', await records.count(blobsTable))
      const images = await copyImages(imagesIn(records), source.blobs, target, {
        // Their keys are never written twice: what was right in the first pass is right in the next.
        check: pass === 1,
        isRecorded: (key) => isRecorded(source.database, key),
        progress,
      })
      progress.end()
      return { rows, images }
    }
  } finally {
    await source.close()
  }
}

async function repeat(
  run: (pass: number) => Promise<{ rows: number | undefined; images: CopyResult | undefined }>,
): Promise<MigrationOutcome> {
  let rows: number | undefined
  let images: CopyResult | undefined
  for (let pass = 1; pass <= MAX_PASSES; pass++) {
    const now = await run(pass)
    if (now.rows !== undefined) rows = (rows ?? 0) + now.rows
    // What could not be copied is tried in each pass, so the last one's count is the right one.
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
  return { kind: 'changing' }
}

/** Makes sure that the target may be written over, and marks it so that nobody serves it until it is whole. */
async function claim(
  source: Database,
  target: Database,
  force: boolean,
): Promise<'same-database' | 'own-data' | undefined> {
  const token = `probe ${randomBytes(9).toString('hex')}`
  await mark(target, token)
  const same = await isMarked(source, token)
  await unmark(target, token)
  if (same) return 'same-database'
  if (!force && !(await isEmpty(target))) {
    const owner = await ownerOf(target)
    const isOurs = owner === '' || owner === (await ownerOf(source))
    if (!isOurs || (await copyState(target)) === undefined) return 'own-data'
  }
  await setCopyState(target, 'unfinished')
  return undefined
}

/** Whether a store holds images, and among the first that it names is none that the source knows. */
async function isForeign(source: Database, blobs: BlobStore): Promise<boolean> {
  let seen = 0
  for await (const { key } of blobs.keys()) {
    if (await isRecorded(source, key)) return false
    if (++seen === SAMPLE) break
  }
  return seen > 0
}

const databaseName = ({ databaseUrl, data }: Place) => (databaseUrl === '' ? resolve(data) : databaseUrl)

function imagesName({ blobsUrl, data }: Place): string {
  if (blobsUrl === undefined) return resolve(data)
  return JSON.stringify([blobsUrl.endpoint, blobsUrl.bucket, blobsUrl.prefix])
}
