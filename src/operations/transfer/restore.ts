import { clearChanges } from '../../storage/database/changes/retention.ts'
import { isUnreleased, SCHEMA, UPGRADING_COMMIT } from '../../storage/database/migrations/index.ts'
import { copyState, schemaOf, setCopyState } from '../../storage/database/transfer-marks.ts'
import { CHANGES } from '../../storage/database/tables.ts'
import {
  assertBackupFolder,
  isWithin,
  openBackupPlace,
  type BackupAddress,
  type BackupPlace,
} from './backup-place.ts'
import { copyImages, type CopyResult } from './images.ts'
import { openInstance, type Instance, type Place } from './instance.ts'
import { makeEqual } from './merge.ts'
import { readManifest, snapshotsIn, type Manifest } from './manifest.ts'
import type { Progress } from '../../lib/progress.ts'
import { isEmpty, ownerOf } from './records.ts'
import { checkFile, checkKeys, imagesOfBackup, rowsOfBackup } from './table-files.ts'

export interface RestoreOptions {
  /** The newest where it is undefined. */
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
  | { readonly kind: 'refused'; readonly reason: 'own-place' | 'not-empty' | 'newer-database' }
  /** Nothing was written: the snapshot is not there, not whole, or of a later program. `others` are there. */
  | {
      readonly kind: 'unusable'
      readonly snapshot: string | undefined
      readonly reasons: readonly string[]
      readonly others: readonly string[]
    }

/** Fills an empty instance from a snapshot, or goes on where this was interrupted. */
export async function restore(
  from: BackupAddress,
  to: Place,
  { snapshot, progress }: RestoreOptions,
): Promise<RestoreOutcome> {
  if (await isWithin(from, to)) return { kind: 'refused', reason: 'own-place' }
  await assertBackupFolder(from)
  const place = await openBackupPlace(from, to.data)
  try {
    const names = await snapshotsIn(place)
    const name = snapshot ?? names.at(-1)
    const unusable = (...reasons: readonly string[]): RestoreOutcome => ({
      kind: 'unusable',
      snapshot: name,
      reasons,
      others: names.filter((other) => other !== name),
    })
    if (name === undefined) return unusable('there is none')
    const outcome = await readManifest(place, name)
    if (outcome.kind !== 'read') return unusable(`its manifest is ${outcome.kind}`)
    const { manifest } = outcome
    if (manifest.schema > SCHEMA) {
      return unusable(`it is of schema ${manifest.schema}, this version knows only ${SCHEMA}`)
    }
    if (isUnreleased(manifest.schema)) {
      return unusable(
        `it is of schema ${manifest.schema}, from before release 0.1.0: restore it with commit ${UPGRADING_COMMIT} of Catalejo`,
      )
    }
    // Before anything is written: half of the records is worse than none.
    const faults = await checkFiles(place, manifest, progress)
    if (faults.length > 0) return unusable(...faults)
    const fault = await checkKeys(place.tables, manifest)
    if (fault !== undefined) return unusable(fault)

    // As the tables were then; what is older is migrated afterwards, as it would have been in place.
    const instance = await openInstance(to, { schema: manifest.schema })
    let restored: RestoreOutcome
    try {
      restored = await fill(instance, place, manifest, progress)
    } finally {
      await instance.close()
    }
    if (restored.kind === 'restored' && manifest.schema < SCHEMA) await (await openInstance(to)).close()
    return restored
  } finally {
    place.close()
  }
}

async function checkFiles(place: BackupPlace, manifest: Manifest, progress: Progress): Promise<string[]> {
  const files = manifest.tables.flatMap((table) => table.files)
  const faults: string[] = []
  progress.begin('files', files.length)
  for (const file of files) {
    const fault = await checkFile(place.tables, file)
    if (fault !== undefined) faults.push(fault.message)
    progress.add(1, file.bytes)
  }
  progress.end()
  return faults
}

async function fill(
  { blobs, database, staging }: Instance,
  place: BackupPlace,
  manifest: Manifest,
  progress: Progress,
): Promise<RestoreOutcome> {
  if ((await schemaOf(database)) > manifest.schema) return { kind: 'refused', reason: 'newer-database' }
  const owner = await ownerOf(database)
  const isInterrupted =
    (await copyState(database)) === 'unfinished' && (owner === '' || owner === manifest.owner)
  if (!isInterrupted && !(await isEmpty(database))) return { kind: 'refused', reason: 'not-empty' }
  await setCopyState(database, 'unfinished')

  const source = rowsOfBackup(place.tables, manifest)
  const rows = await makeEqual(source, database, manifest.tables, progress)
  if ((await makeEqual(source, database, manifest.tables, progress)) > 0) {
    throw new Error('somebody else writes to the database')
  }
  // An older backup has no history: what there is now says only that it was loaded.
  const hasChanges = manifest.tables.some(({ name }) => name === CHANGES)
  if (!hasChanges) await clearChanges(database)
  progress.begin('images', manifest.images.count)
  const images = await copyImages(
    imagesOfBackup(place.tables, manifest),
    place.images,
    { blobs, staging },
    {
      check: true,
      isRecorded: async () => true,
      progress,
    },
  )
  progress.end()
  await setCopyState(database, 'finished')
  return { kind: 'restored', manifest, rows, images }
}
