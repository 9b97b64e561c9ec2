import { clearChanges } from '../../storage/database/changes/retention.ts'
import { isUnreleased, SCHEMA, UPGRADING_COMMIT } from '../../storage/database/migrations/index.ts'
import { copyState, schemaOf, setCopyState } from '../../storage/database/transfer-marks.ts'
import { CHANGES } from '../../storage/database/tables.ts'
import type { Progress } from '../../lib/progress.ts'
import {
  assertBackupFolder,
  openBackupStore,
  overlapsInstance,
  readManifest,
  snapshotsIn,
  type BackupLocation,
  type BackupStore,
  type Manifest,
} from './backup-store.ts'
import { copyImages, type CopyResult } from './copy-images.ts'
import {
  isEmpty,
  ownerOf,
  refuse,
  type InstanceLocation,
  type OpenInstance,
  type Refusal,
} from './instance.ts'
import { syncTables } from './sync-tables.ts'
import { checkFile, checkKeys, imagesOfBackup, rowsOfBackup } from './table-files.ts'

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

/** Restores a snapshot into an empty instance, or resumes an interrupted restore. */
export async function restore(
  from: BackupLocation,
  to: InstanceLocation,
  options: RestoreOptions,
): Promise<RestoreOutcome> {
  const { open, snapshot, progress } = options
  if (await overlapsInstance(from, to))
    return refuse('the backups cannot be stored with the data or images of the instance')
  await assertBackupFolder(from)
  using store = await openBackupStore(from, to.data)
  const names = await snapshotsIn(store)
  const name = snapshot ?? names.at(-1)
  const unusable = (...reasons: readonly string[]): RestoreOutcome => ({
    kind: 'unusable',
    snapshot: name,
    reasons,
    others: names.filter((other) => other !== name),
  })
  if (name === undefined) return unusable('there is none')
  const outcome = await readManifest(store, name)
  if (outcome.kind !== 'read') return unusable(`its manifest is ${outcome.kind}`)
  const { manifest } = outcome
  if (manifest.schema > SCHEMA) {
    return unusable(`its schema is ${manifest.schema}, this version supports up to ${SCHEMA}`)
  }
  if (isUnreleased(manifest.schema)) {
    return unusable(
      `its schema is ${manifest.schema}, from before release 0.1.0: restore it with commit ${UPGRADING_COMMIT} of Catalejo`,
    )
  }
  // Checked before anything is written: a part of the records would be worse than none.
  const faults = await checkFiles(store, manifest, progress)
  if (faults.length > 0) return unusable(...faults)
  const fault = await checkKeys(store.tables, manifest)
  if (fault !== undefined) return unusable(fault)

  const restored = await fill(to, store, manifest, options)
  if (restored.kind === 'restored' && manifest.schema < SCHEMA) await (await open(to))[Symbol.asyncDispose]()
  return restored
}

async function checkFiles(store: BackupStore, manifest: Manifest, progress: Progress): Promise<string[]> {
  const files = manifest.tables.flatMap((table) => table.files)
  const faults: string[] = []
  progress.begin('files', files.length)
  for (const file of files) {
    const fault = await checkFile(store.tables, file)
    if (fault !== undefined) faults.push(fault.message)
    progress.add(1, file.bytes)
  }
  progress.end()
  return faults
}

async function fill(
  to: InstanceLocation,
  store: BackupStore,
  manifest: Manifest,
  { open, progress }: RestoreOptions,
): Promise<RestoreOutcome> {
  // Restored with the schema of the snapshot, and migrated afterwards.
  await using instance = await open(to, { schema: manifest.schema })
  const { blobs, database, staging } = instance
  if ((await schemaOf(database)) > manifest.schema)
    return refuse('the database has a newer schema than the snapshot: give an empty one')
  const owner = await ownerOf(database)
  const isInterrupted =
    (await copyState(database)) === 'unfinished' && (owner === '' || owner === manifest.owner)
  if (!isInterrupted && !(await isEmpty(database)))
    return refuse('the instance is not empty: give it an empty data folder and database')
  await setCopyState(database, 'unfinished')

  const source = rowsOfBackup(store.tables, manifest)
  const rows = await syncTables(source, database, manifest.tables, progress)
  if ((await syncTables(source, database, manifest.tables, progress)) > 0) {
    throw new Error('another process writes to the database')
  }
  // An older backup has no history: the changes recorded now are those of the restore itself.
  const hasChanges = manifest.tables.some(({ name }) => name === CHANGES)
  if (!hasChanges) await clearChanges(database)
  progress.begin('images', manifest.images.count)
  const images = await copyImages(
    imagesOfBackup(store.tables, manifest),
    store.images,
    { blobs, staging },
    { check: true, progress },
  )
  progress.end()
  await setCopyState(database, 'finished')
  return { kind: 'restored', manifest, rows, images }
}
