import { verifyBlob } from '../../imagestore/verify-blob.ts'
import type { Progress } from '../../lib/progress.ts'
import { isLost } from '../../imagestore/blobs.ts'
import { blobWithKey, changedSince, recordsNamed, sampleOfBlobs, sampleOfDomains } from '../queries.ts'
import type { Instance } from './instance.ts'
import type { Manifest } from './manifest.ts'

/** Records and images that are compared. */
const RECORDS = 1_000
const IMAGES = 100
/** How far the clock of the database may be behind the one that named the snapshot. */
const CLOCK_DIFFERENCE_MS = 60_000

export interface Comparison {
  readonly records: number
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
  return { records: unchanged.length, images, faults }
}

/** Compares JSON texts of two engines, which differ in white space. */
const isEqual = (a: string, b: string | undefined) =>
  b !== undefined && JSON.stringify(JSON.parse(a)) === JSON.stringify(JSON.parse(b))
