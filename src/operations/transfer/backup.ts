import { systemClock } from '../../lib/clock.ts'
import type { Progress } from '../../lib/concurrency.ts'
import type { BlobStore } from '../../storage/blobs/blob-store.ts'
import { copyImages, type CopyResult } from './copy-images.ts'
import {
  getDump,
  getImages,
  withRemovalsHeld,
  getOwner,
  type Instance,
  type InstanceLocation,
  Refusal,
} from './instance.ts'
import {
  openPlace,
  overlapsInstance,
  type BackupPlace,
  manifestFile,
  newManifest,
  readManifest,
  snapshotsIn,
  writeManifest,
  type Manifest,
  type TableBackup,
} from './place.ts'
import type { BackupLocation } from '../../storage/blobs/s3/location.ts'
import { getContents, writeTable } from './table-files.ts'

/** Age of temporary files that an interrupted backup left behind. */
const LEFTOVER_AGE_MS = 3_600_000

export interface BackupOptions {
  /** How many of the newest snapshots to keep; undefined for all. */
  readonly keep: number | undefined
  /** The version of the database's schema, if it is about to be upgraded. */
  readonly upgradeFrom?: number
  readonly progress: Progress
}

export interface Backup {
  readonly manifest: Manifest
  readonly images: CopyResult
  /** Undefined if nothing was to be removed, or images could not be copied: then older snapshots may still be needed. */
  readonly pruned: { readonly snapshots: number; readonly files: number; readonly images: number } | undefined
}

/** Takes a snapshot of a running instance. @throws Refusal */
export async function backup(
  instance: Pick<Instance, 'blobs' | 'database'>,
  from: InstanceLocation,
  to: BackupLocation,
  options: BackupOptions,
): Promise<Backup> {
  const { keep } = options
  if (await overlapsInstance(to, from))
    throw new Refusal('backups cannot be stored with the data or images of the instance')
  using place = await openPlace(to, from.data)
  await place.staging.sweep(systemClock.now(), LEFTOVER_AGE_MS)
  const owner = await getOwner(instance.database)
  if (await isOfOtherInstance(place, owner))
    throw new Refusal('it holds backups of another instance: use a separate place for each')
  return await withRemovalsHeld(instance.database, async () => {
    const taken = await takeSnapshot(instance, place, owner, options)
    const mayPrune = keep !== undefined && taken.images.faultCount === 0
    const pruned = mayPrune ? await pruneSnapshots(place, keep) : undefined
    return { ...taken, pruned }
  })
}

/** Removals are on hold, so the images of the view stay until they are copied. */
async function takeSnapshot(
  { blobs, database }: Pick<Instance, 'blobs' | 'database'>,
  place: BackupPlace,
  owner: string,
  { progress, upgradeFrom }: BackupOptions,
): Promise<{ readonly manifest: Manifest; readonly images: CopyResult }> {
  const newest = (await snapshotsIn(place)).at(-1)
  const start = newManifest({ now: systemClock.now(), owner, newest, upgradeFrom })
  const tables = await database.snapshot(async (view) => {
    const contents = await getDump(database, view, start.schema)
    const written: TableBackup[] = []
    for (const table of contents.tables) {
      progress.begin(table.name, table.rows)
      written.push({ ...table, files: await writeTable(place, start.name, table, contents, progress) })
    }
    return written
  })
  const count = tables.find(({ name }) => name === 'blobs')?.rows ?? 0
  const manifest = { ...start, tables, images: { count, bytes: 0 } }
  const listed = getImages(getContents(place, manifest))
  const target = { blobs: place.images, staging: place.staging }
  const images = await copyImages(listed, blobs, target, { count, check: false, progress })
  const complete = { ...manifest, images: { count, bytes: images.bytes } }
  await writeManifest(place, complete)
  return { manifest: complete, images }
}

/** Whether the newest snapshot is of another instance. */
async function isOfOtherInstance(place: BackupPlace, owner: string): Promise<boolean> {
  const newest = (await snapshotsIn(place)).at(-1)
  if (newest === undefined) return false
  const manifest = await readManifest(place, newest)
  return typeof manifest === 'object' && manifest.owner !== '' && manifest.owner !== owner
}

/**
 * Removes all but the newest regular snapshots and the newest one from before an upgrade, and then every file that no snapshot needs. Requires the instance's hold: files that
 * another backup is writing would look unneeded. Keeps the keys of all needed images in memory, 100 bytes each.
 * @throws if a snapshot to keep cannot be read, because then its files are unknown
 */
async function pruneSnapshots(place: BackupPlace, keep: number) {
  const all = new Map<string, Manifest | string>()
  for (const name of await snapshotsIn(place)) all.set(name, await readManifest(place, name))
  const isOfUpgrade = ([, manifest]: [string, Manifest | string]) =>
    typeof manifest === 'object' && manifest.upgradeTo !== undefined
  const kept = new Map([
    ...[...all].filter((one) => !isOfUpgrade(one)).slice(-keep),
    ...[...all].filter(isOfUpgrade).slice(-1),
  ])
  const files = new Set<string>()
  const images = new Set<string>()
  for (const [name, manifest] of kept) {
    if (typeof manifest === 'string') throw new Error(`nothing was removed: of ${name}, ${manifest}`)
    for (const table of manifest.tables) for (const file of table.files) files.add(file.name)
    for await (const { key } of getImages(getContents(place, manifest))) images.add(key)
  }
  const old = [...all.keys()].filter((name) => !kept.has(name))
  // The manifest goes first: a snapshot that is removed only in part does not exist.
  for (const name of old) await place.manifests.remove(manifestFile(name))
  return {
    snapshots: old.length,
    files: await removeUnneeded(place.tables, files),
    images: await removeUnneeded(place.images, images),
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
