import type { Progress } from '../../lib/progress.ts'
import { getTables } from '../../storage/database/tables.ts'
import { SCHEMA } from '../../storage/database/migrations/index.ts'
import { schemaOf, setCopyState } from '../../storage/database/transfer-marks.ts'
import { replaceContents } from '../../storage/database/rows.ts'
import { copyImages, type CopyResult } from './copy-images.ts'
import {
  getImages,
  isReplaceable,
  refuse,
  type InstanceLocation,
  type OpenInstance,
  type Refusal,
} from './instance.ts'
import { readManifest, snapshotsIn, type Manifest } from './manifest.ts'
import {
  assertBackupFolder,
  openPlace,
  overlapsInstance,
  type BackupPlace,
  type BackupLocation,
} from './place.ts'
import { checkFiles, getContents } from './table-files.ts'

export interface RestoreOptions {
  readonly open: OpenInstance
  /** Undefined for the newest one. */
  readonly snapshot: string | undefined
  readonly progress: Progress
}

export type RestoreOutcome =
  | {
      readonly kind: 'restored'
      readonly manifest: Manifest
      readonly rows: number
      readonly images: CopyResult
    }
  | Refusal
  /** Nothing was written: the snapshot is missing, damaged, or of a later version. `others` are available. */
  | {
      readonly kind: 'unusable'
      readonly snapshot: string | undefined
      readonly reasons: readonly string[]
      readonly others: readonly string[]
    }

/** Restores a snapshot into an empty instance, or repeats an interrupted restore. */
export async function restore(
  from: BackupLocation,
  to: InstanceLocation,
  options: RestoreOptions,
): Promise<RestoreOutcome> {
  const { open, snapshot, progress } = options
  if (await overlapsInstance(from, to))
    return refuse('the backups cannot be stored with the data or images of the instance')
  await assertBackupFolder(from)
  using place = await openPlace(from, to.data)
  const names = await snapshotsIn(place)
  const name = snapshot ?? names.at(-1)
  const unusable = (...reasons: readonly string[]): RestoreOutcome => ({
    kind: 'unusable',
    snapshot: name,
    reasons,
    others: names.filter((other) => other !== name),
  })
  if (name === undefined) return unusable('there is none')
  const manifest = await readManifest(place, name)
  if (typeof manifest === 'string') return unusable(manifest)
  // Checked before anything is written: a part of the records would be worse than none.
  const faults = await checkFiles(place, manifest, progress)
  if (faults.length > 0) return unusable(...faults)

  const restored = await fill(to, place, manifest, options)
  if (restored.kind === 'restored' && manifest.schema < SCHEMA) await (await open(to))[Symbol.asyncDispose]()
  return restored
}

async function fill(
  to: InstanceLocation,
  place: BackupPlace,
  manifest: Manifest,
  { open, progress }: RestoreOptions,
): Promise<RestoreOutcome> {
  const {
    images: { count },
    owner,
    schema,
  } = manifest
  // Restored with the schema of the snapshot, and migrated afterwards.
  await using instance = await open(to, { schema, load: true })
  const { database } = instance
  if ((await schemaOf(database)) > schema)
    return refuse('the database has a newer schema than the snapshot: give an empty one')
  if (!(await isReplaceable(database, owner)))
    return refuse('the instance is not empty: give it an empty data folder and database')
  await setCopyState(database, 'unfinished')
  const contents = getContents(place, manifest)
  const rows = await replaceContents(database, getTables(schema), contents, progress)
  const images = await copyImages(getImages(contents), place.images, instance, {
    count,
    check: true,
    progress,
  })
  await setCopyState(database, 'finished')
  return { kind: 'restored', manifest, rows, images }
}
