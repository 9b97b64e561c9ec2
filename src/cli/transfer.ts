import { backup } from '../operations/transfer/backup.ts'
import { parsePlace, type BackupLocation } from '../operations/transfer/place.ts'
import type { CopyResult } from '../operations/transfer/copy-images.ts'
import type { InstanceLocation } from '../operations/transfer/instance.ts'
import { migrate } from '../operations/transfer/migrate.ts'
import { restore } from '../operations/transfer/restore.ts'
import type { Config, Flags } from '../server/config/config.ts'
import { settings } from '../server/config/settings.ts'
import { isBlobKey } from '../storage/blobs/blob-store.ts'
import { S3_LOCATION_TAKES } from '../storage/blobs/s3/location.ts'
import { fail, failureLine, usageFault } from './failure.ts'
import { openInstance } from './instance.ts'
import type { Options } from './command.ts'
import { createProgress, type ShownProgress } from './progress.ts'

/** `catalejo backup`. Exits with 0 if the snapshot is complete, otherwise with 1. */
export async function backupCommand({ config, own, positionals }: Options): Promise<void> {
  const address = readBackupAddress('backup', positionals)
  if (address === undefined) return
  const { keep: text } = own
  if (text !== undefined && !/^[1-9]\d{0,5}$/.test(text)) return usageFault('--keep takes a number from 1 on')
  const keep = text === undefined ? undefined : Number(text)
  await withProgress(undefined, async (progress) => {
    const outcome = await backup(config, address, { open: openInstance, keep, progress })
    if (outcome.kind === 'refused') return fail(outcome.reason)
    const { images, manifest, pruned } = outcome
    const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
    console.log(`snapshot ${manifest.name}: ${rows} rows; ${imagesText(images)}`)
    if (pruned !== undefined) {
      console.log(`removed ${pruned.snapshots} snapshots, ${pruned.files} files, ${pruned.images} images`)
    }
    reportFaults(
      images,
      'These images are missing or damaged in the instance: see catalejo verify. Everything else is in the snapshot.',
    )
  })
}

/** `catalejo restore`. Exits with 0 if the whole snapshot was restored and verified, otherwise with 1. */
export async function restoreCommand({ config, own, positionals }: Options): Promise<void> {
  const address = readBackupAddress('restore', positionals)
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
    console.log(`snapshot ${manifest.name}: ${rows} rows; ${imagesText(images)}`)
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

/** Reads the address of the backups. Undefined, and reported, if there is not exactly one, or it is not valid. */
function readBackupAddress(command: string, positionals: readonly string[]): BackupLocation | undefined {
  const [text, ...more] = positionals
  if (text === undefined || text === '' || more.length > 0)
    return usageFault(`${command} takes one FOLDER or s3://…`)
  return parsePlace(text) ?? usageFault(`${command} takes a FOLDER or ${S3_LOCATION_TAKES}`)
}

/** @param advice printed after a failure that left something to continue */
async function withProgress(
  advice: string | undefined,
  run: (progress: ShownProgress) => Promise<void>,
): Promise<void> {
  const progress = createProgress()
  try {
    await run(progress)
  } catch (error) {
    progress.end()
    fail(failureLine(error))
    if (advice !== undefined && progress.hasBegun) console.error(advice)
  }
}

function imagesText({ copied, copiedBytes, present }: CopyResult): string {
  return `${copied} images copied (${(copiedBytes / 1e6).toFixed(1)} MB), ${present} there before`
}

/** Lists the images that could not be copied, followed by `explanation`, and sets the exit code if there are any. */
function reportFaults({ faults, faultCount }: CopyResult, explanation: string): void {
  if (faultCount === 0) return
  for (const { key, kind } of faults) console.error(`image ${printable(key)}: ${kind}`)
  if (faultCount > faults.length) console.error(`and ${faultCount - faults.length} more`)
  console.error(explanation)
  process.exitCode = 1
}

/** A key in a database may be any text, including control sequences of a terminal. */
const printable = (key: string): string => (isBlobKey(key) ? key : JSON.stringify(key))
