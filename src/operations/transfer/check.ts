import { forEachConcurrent } from '../../lib/concurrency.ts'
import type { Progress } from '../../lib/progress.ts'
import { verifyBlob } from '../../imagestore/verify-blob.ts'
import { imagesOf } from './dump.ts'
import type { Manifest } from './manifest.ts'
import type { BackupPlace } from './place.ts'
import { checkFiles, contentsOf } from './table-files.ts'

const CONCURRENCY = 8

/** Reads every byte of a snapshot. Returns what is wrong with it, a line for each fault. */
export async function checkSnapshot(
  place: BackupPlace,
  manifest: Manifest,
  progress: Progress,
): Promise<string[]> {
  const faults = await checkFiles(place, manifest, progress)
  if (faults.length > 0) return faults
  progress.begin('image files', manifest.images.count)
  await forEachConcurrent(imagesOf(contentsOf(place, manifest)), CONCURRENCY, async (image) => {
    const state = await verifyBlob(place.images, image.key, image)
    if (state !== 'valid') faults.push(`image ${image.key} is ${state}`)
    progress.add(1)
  })
  progress.end()
  return faults
}
