import { systemClock } from '../../lib/clock.ts'
import type { Progress } from '../../lib/progress.ts'
import { VERSION } from '../../lib/version.ts'
import type { BlobStore } from '../../storage/blobs/blob-store.ts'
import type { Database } from '../../storage/database/database.ts'
import { SCHEMA } from '../../storage/database/migrations/index.ts'
import { beginHold, endHold, prolongHold } from '../../storage/database/transfer-marks.ts'
import { copiedTables } from '../../storage/database/tables.ts'
import {
  manifestFile,
  openBackupStore,
  overlapsInstance,
  readManifest,
  snapshotName,
  snapshotsIn,
  writeManifest,
  type BackupLocation,
  type BackupStore,
  type Manifest,
  type TableBackup,
} from './backup-store.ts'
import { copyImages, type CopyResult } from './copy-images.ts'
import {
  ownerOf,
  refuse,
  type Instance,
  type InstanceLocation,
  type OpenInstance,
  type Refusal,
} from './instance.ts'
import { rowsIn } from './sync-tables.ts'
import { FileFault, imagesOfBackup, writeTable } from './table-files.ts'

/** Age of temporary files that an interrupted backup left behind. */
const LEFTOVER_AGE_MS = 3_600_000

/**
 * How long the hold of a killed backup delays removals. The clocks of the nodes may differ by this minus the renewal interval.
 */
const HOLD_MS = 180_000
const RENEW_HOLD_MS = 30_000

export interface BackupOptions {
  readonly open: OpenInstance
  /** How many of the newest snapshots to keep; undefined for all. */
  readonly keep: number | undefined
  readonly progress: Progress
}

export type BackupOutcome =
  | {
      readonly kind: 'written'
      readonly manifest: Manifest
      readonly images: CopyResult
      /** Undefined if nothing was to be removed, or images could not be copied: then older snapshots may still be needed. */
      readonly pruned: Pruned | undefined
    }
  | Refusal

/** Takes a snapshot of a running instance. */
export async function backup(
  from: InstanceLocation,
  to: BackupLocation,
  { open, keep, progress }: BackupOptions,
): Promise<BackupOutcome> {
  if (await overlapsInstance(to, from))
    return refuse('backups cannot be stored with the data or images of the instance')
  await using instance = await open(from, { existing: true })
  using store = await openBackupStore(to, from.data)
  await store.staging.sweep(systemClock.now(), LEFTOVER_AGE_MS)
  const owner = await ownerOf(instance.database)
  if (await isOfOtherInstance(store, owner))
    return refuse('it holds backups of another instance: use a separate place for each')
  return await withRemovalsHeld(instance.database, async () => {
    const taken = await takeSnapshot(instance, store, owner, progress)
    const mayPrune = keep !== undefined && taken.images.faultCount === 0
    const pruned = mayPrune ? await pruneSnapshots(store, keep) : undefined
    return { kind: 'written', ...taken, pruned }
  })
}

async function takeSnapshot(
  { blobs, database }: Instance,
  store: BackupStore,
  owner: string,
  progress: Progress,
): Promise<{ readonly manifest: Manifest; readonly images: CopyResult }> {
  const now = systemClock.now()
  const name = snapshotName(now)
  // Removals are on hold now, so the images of this view stay until they are copied.
  const tables = await database.snapshot(async (view) => {
    const source = rowsIn(view)
    const written: TableBackup[] = []
    for (const table of copiedTables) {
      const rows = await source.count(table)
      progress.begin(table.name, rows)
      written.push({ ...table, rows, files: await writeTable(store, name, table, source, progress) })
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
    for await (const image of imagesOfBackup(store.tables, manifest)) {
      bytes += image.size
      yield image
    }
  }
  const images = await copyImages(
    counted(),
    blobs,
    { blobs: store.images, staging: store.staging },
    // The hold keeps every image of the view, even if its record was deleted since.
    { check: false, progress },
  )
  progress.end()
  const complete = { ...manifest, images: { count, bytes } }
  await writeManifest(store, complete)
  return { manifest: complete, images }
}

/** Whether the newest snapshot is of another instance. */
async function isOfOtherInstance(store: BackupStore, owner: string): Promise<boolean> {
  const newest = (await snapshotsIn(store)).at(-1)
  if (newest === undefined) return false
  const outcome = await readManifest(store, newest)
  return outcome.kind === 'read' && outcome.manifest.owner !== '' && outcome.manifest.owner !== owner
}

/** Runs `work` while no node removes the bytes of images. */
async function withRemovalsHeld<T>(database: Database, work: () => Promise<T>): Promise<T | Refusal> {
  const until = await beginHold(database, systemClock.now(), systemClock.now() + HOLD_MS)
  if (until !== undefined) {
    const end = new Date(until).toISOString()
    return refuse(`another backup is running, or was interrupted: try again, at the latest after ${end}`)
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

export interface Pruned {
  readonly snapshots: number
  readonly files: number
  readonly images: number
}

/**
 * Removes all but the newest snapshots, and then every file that no snapshot needs. Requires the instance's hold: files that
 * another backup is writing would look unneeded. Keeps the keys of all needed images in memory, 100 bytes each.
 * @throws FileFault if a snapshot to keep cannot be read, because then its files are unknown
 */
async function pruneSnapshots(store: BackupStore, keep: number): Promise<Pruned> {
  const all = await snapshotsIn(store)
  const kept = all.slice(-keep)
  const old = all.slice(0, -keep)

  const manifests: Manifest[] = []
  for (const name of kept) {
    const outcome = await readManifest(store, name)
    if (outcome.kind !== 'read')
      throw new FileFault(manifestFile(name), outcome.kind === 'missing' ? 'missing' : 'damaged')
    manifests.push(outcome.manifest)
  }
  const files = new Set<string>()
  const images = new Set<string>()
  for (const manifest of manifests) {
    for (const table of manifest.tables) for (const { name } of table.files) files.add(name)
    for await (const { key } of imagesOfBackup(store.tables, manifest)) images.add(key)
  }

  // The manifest goes first: a snapshot that is removed only in part does not exist.
  for (const name of old) await store.manifests.remove(manifestFile(name))
  return {
    snapshots: old.length,
    files: await removeUnneeded(store.tables, files),
    images: await removeUnneeded(store.images, images),
  }
}

async function removeUnneeded(store: BlobStore, needed: ReadonlySet<string>): Promise<number> {
  let removed = 0
  for await (const { key } of store.keys()) {
    if (needed.has(key)) continue
    await store.remove(key)
    removed++
  }
  return removed
}
