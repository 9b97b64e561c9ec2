import { isLost, verifyBlob } from '../../imagestore/blobs.ts'
import type { Progress } from '../../lib/concurrency.ts'
import { SCHEMA } from '../../storage/database/migrations/index.ts'
import { replaceContents, getTables } from '../../storage/database/tables.ts'
import { schemaOf, setCopyState } from '../../storage/database/transfer-marks.ts'
import { blobWithKey, changedSince, recordsNamed, sampleOfBlobs, sampleOfDomains } from '../queries.ts'
import { copyImages, type CopyResult } from './copy-images.ts'
import {
  getImages,
  isReplaceable,
  type InstanceLocation,
  openInstance,
  Refusal,
  type Instance,
} from './instance.ts'
import {
  assertBackupFolder,
  openPlace,
  overlapsInstance,
  type BackupPlace,
  readManifest,
  snapshotsIn,
  type Manifest,
} from './place.ts'
import type { BackupLocation } from '../../storage/blobs/s3/location.ts'
import { checkFiles, getContents } from './table-files.ts'

export interface RestoreOptions {
  /** Undefined for the newest one. */
  readonly snapshot: string | undefined
  readonly progress: Progress
}

export interface Restored {
  readonly manifest: Manifest
  readonly rows: number
  readonly images: CopyResult
}

/** Nothing was written: the snapshot is missing, damaged, or of a later version. `others` are available. */
export class UnusableSnapshot extends Refusal {
  readonly snapshot: string
  readonly reasons: readonly string[]
  readonly others: readonly string[]

  constructor(snapshot: string, reasons: readonly string[], others: readonly string[]) {
    super(reasons.join('; '))
    this.snapshot = snapshot
    this.reasons = reasons
    this.others = others
  }
}

/**
 * Restores a snapshot into an empty instance, or repeats an interrupted restore.
 * @throws Refusal
 */
export async function restore(
  from: BackupLocation,
  to: InstanceLocation,
  options: RestoreOptions,
): Promise<Restored> {
  const { snapshot, progress } = options
  if (await overlapsInstance(from, to))
    throw new Refusal('the backups cannot be stored with the data or images of the instance')
  await assertBackupFolder(from)
  using place = await openPlace(from, to.data)
  const names = await snapshotsIn(place)
  const name = snapshot ?? names.at(-1)
  const others = names.filter((other) => other !== name)
  const unusable = (...reasons: readonly string[]) => new UnusableSnapshot(name ?? '', reasons, others)
  if (name === undefined) throw unusable('there is none')
  const manifest = await readManifest(place, name)
  if (typeof manifest === 'string') throw unusable(manifest)
  // Checked before anything is written: a part of the records would be worse than none.
  const faults = await checkFiles(place, manifest, progress)
  if (faults.length > 0) throw unusable(...faults)

  const restored = await fill(to, place, manifest, options)
  if (manifest.schema < SCHEMA) await (await openInstance(to))[Symbol.asyncDispose]()
  return restored
}

async function fill(
  to: InstanceLocation,
  place: BackupPlace,
  manifest: Manifest,
  { progress }: RestoreOptions,
): Promise<Restored> {
  const {
    images: { count },
    owner,
    schema,
  } = manifest
  // Restored with the schema of the snapshot, and migrated afterwards.
  await using instance = await openInstance(to, { schema })
  const { database } = instance
  if ((await schemaOf(database)) > schema)
    throw new Refusal('the database has a newer schema than the snapshot: give an empty one')
  if (!(await isReplaceable(database, owner)))
    throw new Refusal('the instance is not empty: give it an empty data folder and database')
  await setCopyState(database, 'unfinished')
  const contents = getContents(place, manifest)
  const rows = await replaceContents(database, getTables(schema), contents, progress)
  const images = await copyImages(getImages(contents), place.images, instance, {
    count,
    check: true,
    progress,
  })
  await setCopyState(database, 'finished')
  return { manifest, rows, images }
}

/** Records and images that are compared. */
const RECORDS = 1_000
const IMAGES = 100
/** How far the clock of the database may be behind the one that named the snapshot. */
const CLOCK_DIFFERENCE_MS = 60_000

export interface Comparison {
  readonly records: number
  /** Records that may differ, because they changed since the snapshot or shortly before it. */
  readonly changed: number
  readonly images: number
  /** A line for each difference. */
  readonly faults: readonly string[]
}

/**
 * Compares a sample of an instance that was restored from a snapshot with the instance itself. What has changed since the
 * snapshot is left out.
 */
export async function compareSample(
  restored: Instance,
  live: Instance,
  { createdAt }: Manifest,
  progress: Progress,
): Promise<Comparison> {
  const faults: string[] = []
  const since = Date.parse(createdAt) - CLOCK_DIFFERENCE_MS
  const { dialect } = live.database

  const sample = await restored.database.scanner.all(sampleOfDomains(restored.database.dialect, RECORDS))
  const names = sample.map(({ name }) => name)
  const present = new Map(
    (await live.database.scanner.all(recordsNamed(dialect, names))).map((row) => [row.name, row.record]),
  )
  const changed = new Set(
    (await live.database.scanner.all(changedSince(dialect, names, since))).map(({ name }) => name),
  )
  const unchanged = sample.filter(({ name }) => !changed.has(name))
  progress.begin('records', unchanged.length)
  for (const { name, record } of unchanged) {
    if (!isEqual(record, present.get(name))) faults.push(`domain ${name} differs`)
    progress.add(1)
  }

  const blobs = await restored.database.scanner.all(sampleOfBlobs(IMAGES))
  progress.begin('images', blobs.length)
  let images = 0
  for (const blob of blobs) {
    const isRecorded = await live.database.first(blobWithKey(blob.hash, blob.key))
    progress.add(1)
    if (isRecorded === undefined || isLost(blob.key)) continue
    images++
    for (const [store, whose] of [
      [restored.blobs, 'the backup'],
      [live.blobs, 'the instance'],
    ] as const) {
      const state = await verifyBlob(store, blob.key, blob)
      if (state !== 'valid') faults.push(`image ${blob.key} of ${whose} is ${state}`)
    }
  }
  progress.end()
  return { records: unchanged.length, changed: changed.size, images, faults }
}

/** Compares JSON texts of two engines, which differ in white space. */
const isEqual = (a: string, b: string | undefined) =>
  b !== undefined && JSON.stringify(JSON.parse(a)) === JSON.stringify(JSON.parse(b))
