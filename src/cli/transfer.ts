import type { CopyResult } from '../operations/transfer/copy-images.ts'
import type { InstanceLocation } from '../operations/transfer/instance.ts'
import { migrate } from '../operations/transfer/migrate.ts'
import { parsePlace, type BackupLocation } from '../operations/transfer/place.ts'
import { restore } from '../operations/transfer/restore.ts'
import type { Config, Flags } from '../server/config/config.ts'
import { settings } from '../server/config/settings.ts'
import { isBlobKey } from '../storage/blobs/blob-store.ts'
import { S3_LOCATION_TAKES } from '../storage/blobs/s3/location.ts'
import { fail, failureLine, usageFault } from './failure.ts'
import { openInstance } from './instance.ts'
import type { Options } from './command.ts'
import { createProgress, type ShownProgress } from './progress.ts'
import { countOf } from '../lib/text.ts'

/** `catalejo restore`. Exits with 0 if the whole snapshot was restored and verified, otherwise with 1. */
export async function restoreCommand({ config, own, positionals }: Options): Promise<void> {
  const address = readPlace(positionals)
  if (address === undefined) return
  const advice = 'The restore is not complete. Run the same command again.'
  await withProgress(advice, async (progress) => {
    const outcome = await restore(address, config, {
      open: openInstance,
      snapshot: own['snapshot'],
      progress,
    })
    if (outcome.kind === 'refused') return fail(outcome.reason)
    if (outcome.kind === 'unusable') {
      const { others, reasons, snapshot = '' } = outcome
      for (const reason of reasons) console.error(`snapshot ${snapshot}: ${reason}`)
      fail('nothing was restored')
      if (others.length > 0) console.error(`Other snapshots: ${others.join(' ')}`)
      return
    }
    const { images, manifest, rows } = outcome
    console.log(`snapshot ${manifest.name}: ${countOf(rows, 'row')}; ${imagesText(images)}`)
    reportFaults(
      images,
      `${images.faultCount} of ${manifest.images.count} images could not be restored; the records of all, and the other images, are there`,
    )
  })
}

/** `catalejo migrate`. Exits with 0 if the copy has everything, otherwise with 1. */
export async function migrateCommand({ config, own, switches }: Options): Promise<void> {
  const to = targetOf(config, own)
  if (to === undefined) return
  const advice = 'The copy is not complete. Run the same command again.'
  await withProgress(advice, async (progress) => {
    const force = switches.has('force')
    const outcome = await migrate({ open: openInstance, from: config, to, force, progress })
    if (outcome.kind === 'refused') return fail(outcome.reason)
    const { rows, images, isOutdated } = outcome
    const parts = [
      ...(rows === undefined ? [] : [`${rows} rows`]),
      ...(images === undefined ? [] : [imagesText(images)]),
    ]
    console.log(parts.join('; '))
    if (images !== undefined)
      reportFaults(images, 'These images are missing or damaged at the source: see catalejo verify.')
    if (isOutdated) fail('the source changed meanwhile. Stop the service and run it again')
  })
}

/** What no flag names stays where it is, or with `--to-data` goes into that folder. */
function targetOf(from: Config, own: Flags): InstanceLocation | undefined {
  const { 'to-data': data, 'to-database-url': databaseUrl, 'to-blobs-url': blobsUrl } = own
  const database = databaseUrl === undefined ? undefined : settings.databaseUrl.parse(databaseUrl)
  const blobs = blobsUrl === undefined ? undefined : settings.blobsUrl.parse(blobsUrl)
  if (database !== undefined && 'takes' in database)
    return usageFault(`--to-database-url takes ${database.takes}`)
  if (blobs !== undefined && 'takes' in blobs) return usageFault(`--to-blobs-url takes ${blobs.takes}`)
  const stay: InstanceLocation = data === undefined ? from : { data, databaseUrl: '', blobsUrl: undefined }
  return {
    data: stay.data,
    databaseUrl: database === undefined ? stay.databaseUrl : database.value,
    blobsUrl: blobs === undefined ? stay.blobsUrl : blobs.value,
  }
}

/** Reads the place of the backups: by default that of regular ones. Undefined, and reported, if there is none, or it is not valid. */
export function readPlace([text]: readonly string[], config?: Config): BackupLocation | undefined {
  if (text === undefined) return config?.backupTo ?? usageFault('give a PLACE, or --backup-to')
  const place = text === '' ? undefined : parsePlace(text)
  return place ?? usageFault(`a PLACE is a folder or ${S3_LOCATION_TAKES}`)
}

/**
 * Returns what `run` returns; undefined if it failed, which is reported.
 * @param advice printed after a failure that left something to continue
 */
export async function withProgress<T>(
  advice: string | undefined,
  run: (progress: ShownProgress) => Promise<T>,
): Promise<T | undefined> {
  const progress = createProgress()
  try {
    return await run(progress)
  } catch (error) {
    progress.end()
    fail(failureLine(error))
    if (advice !== undefined && progress.hasBegun) console.error(advice)
    return undefined
  }
}

export function imagesText({ copied, copiedBytes, present }: CopyResult): string {
  return `${countOf(copied, 'image')} copied (${(copiedBytes / 1e6).toFixed(1)} MB), ${present} there before`
}

/** Lists the images that could not be copied, followed by `explanation`, and sets the exit code if there are any. */
export function reportFaults({ faults, faultCount }: CopyResult, explanation: string): void {
  if (faultCount === 0) return
  for (const { key, kind } of faults) console.error(`image ${printable(key)}: ${kind}`)
  if (faultCount > faults.length) console.error(`and ${faultCount - faults.length} more`)
  console.error(explanation)
  process.exitCode = 1
}

/** A key in a database may be any text, including control sequences of a terminal. */
const printable = (key: string): string => (isBlobKey(key) ? key : JSON.stringify(key))
