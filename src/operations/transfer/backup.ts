import { systemClock, type Clock } from '../../lib/clock.ts'
import { SCHEMA } from '../../storage/database/migrations/index.ts'
import { copiedTables } from '../../storage/database/tables.ts'
import { VERSION } from '../../lib/version.ts'
import { isWithin, openBackupPlace, type BackupAddress, type BackupPlace } from './backup-place.ts'
import { holding } from './hold.ts'
import { copyImages, type CopyResult } from './images.ts'
import { openInstance, type Instance, type Place } from './instance.ts'
import {
  readManifest,
  snapshotName,
  snapshotsIn,
  writeManifest,
  type Manifest,
  type TableBackup,
} from './manifest.ts'
import { rowsIn } from './pages.ts'
import type { Progress } from '../../lib/progress.ts'
import { prune, type Pruned } from './prune.ts'
import { ownerOf } from './records.ts'
import { imagesOfBackup, writeTable } from './table-files.ts'

/** Files that a backup which was cut off left in its staging folder. */
const LEFTOVER_AGE_MS = 3_600_000

export interface BackupOptions {
  /** Of all snapshots, this many newest ones are kept; undefined for all. */
  readonly keep: number | undefined
  readonly progress: Progress
  readonly clock?: Clock
}

export type BackupOutcome =
  | {
      readonly kind: 'written'
      readonly manifest: Manifest
      readonly images: CopyResult
      /** Undefined where nothing was to be, or images could not be copied: then older snapshots may be needed yet. */
      readonly pruned: Pruned | undefined
    }
  | { readonly kind: 'busy'; readonly until: number }
  | { readonly kind: 'refused'; readonly reason: 'own-place' | 'other-instance' }

/** Takes a snapshot of a live instance. It exists once its manifest does, which is written last. */
export async function backup(
  from: Place,
  to: BackupAddress,
  { keep, progress, clock = systemClock }: BackupOptions,
): Promise<BackupOutcome> {
  if (await isWithin(to, from)) return { kind: 'refused', reason: 'own-place' }
  const instance = await openInstance(from, { existing: true })
  try {
    const place = await openBackupPlace(to, from.data)
    try {
      await place.staging.sweep(clock.now(), LEFTOVER_AGE_MS)
      const owner = await ownerOf(instance.database)
      if (await isOfAnother(place, owner)) return { kind: 'refused', reason: 'other-instance' }
      const held = await holding(instance.database, clock, async () => {
        const taken = await take(instance, place, owner, clock, progress)
        const mayPrune = keep !== undefined && taken.images.faultCount === 0
        return { ...taken, pruned: mayPrune ? await prune(place, keep) : undefined }
      })
      return held.kind === 'busy' ? held : { kind: 'written', ...held.value }
    } finally {
      place.close()
    }
  } finally {
    await instance.close()
  }
}

async function take(
  { blobs, database }: Instance,
  place: BackupPlace,
  owner: string,
  clock: Clock,
  progress: Progress,
): Promise<{ readonly manifest: Manifest; readonly images: CopyResult }> {
  const now = clock.now()
  const name = snapshotName(now)
  // Removals are held off by now, so the bytes of all that this view has stay until they are copied.
  const tables = await database.snapshot(async (view) => {
    const source = rowsIn(view)
    const written: TableBackup[] = []
    for (const table of copiedTables) {
      const rows = await source.count(table)
      progress.begin(table.name, rows)
      written.push({ ...table, rows, files: await writeTable(place, name, table, source, progress) })
    }
    return written
  })
  const count = tables.find((table) => table.name === 'blobs')?.rows ?? 0
  const manifest: Manifest = {
    format: 1,
    name,
    createdAt: new Date(now).toISOString(),
    program: VERSION,
    schema: SCHEMA,
    owner,
    tables,
    images: { count, bytes: 0 },
  }
  progress.begin('images', count)
  let bytes = 0
  async function* counted() {
    for await (const image of imagesOfBackup(place.tables, manifest)) {
      bytes += image.size
      yield image
    }
  }
  const images = await copyImages(
    counted(),
    blobs,
    { blobs: place.images, staging: place.staging },
    {
      check: false,
      // What the view has is held for us, even where its record is gone by now.
      isRecorded: async () => true,
      progress,
    },
  )
  progress.end()
  const complete = { ...manifest, images: { count, bytes } }
  await writeManifest(place, complete)
  return { manifest: complete, images }
}

/** Whether the newest snapshot there is of an instance that is not this one. */
async function isOfAnother(place: BackupPlace, owner: string): Promise<boolean> {
  const newest = (await snapshotsIn(place)).at(-1)
  if (newest === undefined) return false
  const outcome = await readManifest(place, newest)
  return outcome.kind === 'read' && outcome.manifest.owner !== '' && outcome.manifest.owner !== owner
}
