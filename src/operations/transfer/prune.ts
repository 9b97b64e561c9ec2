import type { BackupPlace } from './backup-place.ts'
import { ownFile, readManifest, snapshotsIn, type Manifest } from './manifest.ts'
import { FileFault, imagesOfBackup } from './table-files.ts'

export interface Pruned {
  readonly snapshots: number
  readonly files: number
  readonly images: number
}

/**
 * Removes all but the newest snapshots, and then what no snapshot needs. Only for whoever holds the instance's one backup: what
 * another one was writing would look like a leftover. The keys of all images that are kept are in memory meanwhile,
 * some 100 bytes each.
 * @throws FileFault when a snapshot that is kept cannot be read: then nobody knows what it needs
 */
export async function prune(place: BackupPlace, keep: number): Promise<Pruned> {
  const all = await snapshotsIn(place)
  const kept = all.slice(-keep)
  const old = all.slice(0, -keep)

  const manifests: Manifest[] = []
  for (const name of kept) {
    const outcome = await readManifest(place, name)
    if (outcome.kind !== 'read')
      throw new FileFault(ownFile(name), outcome.kind === 'missing' ? 'missing' : 'damaged')
    manifests.push(outcome.manifest)
  }
  const files = new Set<string>()
  const images = new Set<string>()
  for (const manifest of manifests) {
    for (const table of manifest.tables) for (const { name } of table.files) files.add(name)
    for await (const { key } of imagesOfBackup(place.tables, manifest)) images.add(key)
  }

  // A snapshot ends with its manifest, so one that is pruned only in part does not exist.
  for (const name of old) await place.manifests.remove(ownFile(name))
  return {
    snapshots: old.length,
    files: await removeOthers(place.tables, files),
    images: await removeOthers(place.images, images),
  }
}

async function removeOthers(store: BackupPlace['tables'], needed: ReadonlySet<string>): Promise<number> {
  let removed = 0
  for await (const { key } of store.keys()) {
    if (needed.has(key)) continue
    await store.remove(key)
    removed++
  }
  return removed
}
