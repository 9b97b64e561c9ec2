import type { CopyResult } from '../operations/transfer/copy-images.ts'
import {
  type InstanceLocation,
  openInstance,
  recorded,
  Refusal,
  type RunKind,
} from '../operations/transfer/instance.ts'
import { migrate } from '../operations/transfer/migrate.ts'
import {
  assertBackupFolder,
  openPlace,
  type BackupPlace,
  readManifest,
  snapshotsIn,
  type Manifest,
} from '../operations/transfer/place.ts'
import { restore, compareSample, UnusableSnapshot } from '../operations/transfer/restore.ts'
import type { Config, Flags } from '../server/config/config.ts'
import { settings } from '../server/config/settings.ts'
import { isBlobKey } from '../storage/blobs/blob-store.ts'
import { parsePlace, S3_LOCATION_TAKES, type BackupLocation } from '../storage/blobs/s3/location.ts'
import { fail, failureLine, usageFault, createProgress } from './output.ts'
import type { Options } from './command.ts'
import type { Progress } from '../lib/concurrency.ts'
import { countOf } from '../lib/text.ts'
import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { backup } from '../operations/transfer/backup.ts'
import { checkSnapshot } from '../operations/transfer/table-files.ts'

/** `catalejo restore`. Exits with 0 if the whole snapshot was restored and verified, otherwise with 1. */
export async function restoreCommand({ config, own, positionals }: Options): Promise<void> {
  const address = readPlace(positionals)
  if (address === undefined) return
  const advice = 'The restore is not complete. Run the same command again.'
  await withProgress(advice, async (progress) => {
    const options = { snapshot: own['snapshot'], progress }
    const { images, manifest, rows } = await restore(address, config, options)
    console.log(`snapshot ${manifest.name}: ${countOf(rows, 'row')}; ${imagesText(images)}`)
    reportFaults(
      images,
      `${images.faultCount} of ${manifest.images.count} images could not be restored; the records of all, and the other images, are there`,
    )
  })
}

/** `catalejo migrate`. Exits with 0 if the copy has everything, otherwise with 1. */
export async function migrateCommand({ config, own, switches }: Options): Promise<void> {
  const to = getTarget(config, own)
  if (to === undefined) return
  const advice = 'The copy is not complete. Run the same command again.'
  await withProgress(advice, async (progress) => {
    const force = switches.has('force')
    const options = { from: config, to, force, progress }
    const { rows, images, isOutdated } = await migrate(options)
    const parts = [
      ...(rows === undefined ? [] : [countOf(rows, 'row')]),
      ...(images === undefined ? [] : [imagesText(images)]),
    ]
    console.log(parts.join('; '))
    if (images !== undefined)
      reportFaults(images, 'These images are missing or damaged at the source: see catalejo verify.')
    if (isOutdated) fail('the source has changed since. Stop the service and run the command again')
  })
}

/** What no flag names stays where it is, or with `--to-data` goes into that folder. */
function getTarget(from: Config, own: Flags): InstanceLocation | undefined {
  const { 'to-data': data, 'to-database-url': databaseUrl, 'to-blobs-url': blobsUrl } = own
  const database = databaseUrl === undefined ? undefined : settings.databaseUrl.parse(databaseUrl)
  const blobs = blobsUrl === undefined ? undefined : settings.blobsUrl.parse(blobsUrl)
  if (database !== undefined && 'takes' in database)
    return usageFault(`--to-database-url must be ${database.takes}`)
  if (blobs !== undefined && 'takes' in blobs) return usageFault(`--to-blobs-url must be ${blobs.takes}`)
  const stay: InstanceLocation = data === undefined ? from : { data, databaseUrl: '', blobsUrl: undefined }
  return {
    data: stay.data,
    databaseUrl: database === undefined ? stay.databaseUrl : database.value,
    blobsUrl: blobs === undefined ? stay.blobsUrl : blobs.value,
  }
}

/** Reads the place of the backups: by default that of regular ones. Undefined, and reported, if there is none, or it is not valid. */
function readPlace([text]: readonly string[], config?: Config): BackupLocation | undefined {
  if (text === undefined) return config?.backupTo ?? usageFault('name a PLACE, or set --backup-to')
  const place = text === '' ? undefined : parsePlace(text)
  return place ?? usageFault(`a PLACE must be a folder or ${S3_LOCATION_TAKES}`)
}

/**
 * Reports a failure, and the advice if it left something to continue.
 * @param run copies something
 */
async function withProgress(advice: string, run: (progress: Progress) => Promise<void>): Promise<void> {
  using progress = createProgress()
  try {
    await run(progress)
  } catch (error) {
    progress.end()
    if (error instanceof UnusableSnapshot) reportUnusable(error)
    else fail(failureLine(error))
    if (!(error instanceof Refusal) && progress.hasBegun) console.error(advice)
  }
}

function reportUnusable({ others, reasons, snapshot }: UnusableSnapshot): void {
  for (const reason of reasons) console.error(`snapshot ${snapshot}: ${reason}`)
  fail('nothing was restored')
  if (others.length > 0) console.error(`Other snapshots: ${others.join(' ')}`)
}

function imagesText({ copied, copiedBytes, present }: CopyResult): string {
  return `${countOf(copied, 'image')} copied (${(copiedBytes / 1e6).toFixed(1)} MB), ${present} there before`
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

/** `catalejo backup create`. Exits with 0 if the snapshot is complete, otherwise with 1. */
export async function createBackup({ config, own, positionals }: Options): Promise<void> {
  const place = readPlace(positionals, config)
  if (place === undefined) return
  const { keep: text } = own
  if (text !== undefined && !/^[1-9]\d{0,5}$/.test(text)) return usageFault('--keep must be a number from 1')
  const isRegular = positionals.length === 0
  const keep = text === undefined ? (isRegular ? config.backupKeep : undefined) : Number(text)
  using progress = createProgress()
  await using instance = await openInstance(config, { existing: true })
  const create = () => backup(instance, config, place, { keep, progress })
  const { images, manifest, pruned } = isRegular
    ? await recorded(instance.database, 'backup', create, () => undefined)
    : await create()
  console.log(`snapshot ${manifest.name}: ${countOf(toRows(manifest), 'row')}; ${imagesText(images)}`)
  if (pruned !== undefined) {
    console.log(
      `removed ${countOf(pruned.snapshots, 'snapshot')}, ${countOf(pruned.files, 'file')}, ${countOf(pruned.images, 'image')}`,
    )
  }
  reportFaults(
    images,
    'These images are missing or damaged in the instance: see catalejo verify. Everything else is in the snapshot.',
  )
}

/** `catalejo backup list`. Tab-separated: snapshot, version, rows, images, bytes of images. */
export async function listBackups({ config, positionals }: Options): Promise<void> {
  using place = await openNamed(positionals, config)
  if (place === undefined) return
  console.log(['SNAPSHOT', 'VERSION', 'ROWS', 'IMAGES', 'BYTES'].join('\t'))
  for (const name of await snapshotsIn(place)) {
    const manifest = await readManifest(place, name)
    if (typeof manifest === 'string') {
      fail(`snapshot ${name}: ${manifest}`)
      continue
    }
    const { images, program } = manifest
    console.log([name, program, toRows(manifest), images.count, images.bytes].join('\t'))
  }
}

/** `catalejo backup check`. Exits with 0 if every byte of the newest snapshot, or of the named one, is right. */
export async function checkBackup({ config, own, positionals }: Options): Promise<void> {
  using place = await openNamed(positionals, config)
  if (place === undefined) return
  await withRun(config, positionals, 'check', async () => {
    const name = own['snapshot'] ?? (await snapshotsIn(place)).at(-1)
    if (name === undefined) return 'there is no snapshot'
    const manifest = await readManifest(place, name)
    if (typeof manifest === 'string') return `snapshot ${name}: ${manifest}`
    using progress = createProgress()
    const faults = await checkSnapshot(place, manifest, progress)
    for (const fault of faults) console.error(`snapshot ${name}: ${fault}`)
    if (faults.length > 0) return `snapshot ${name} has ${countOf(faults.length, 'fault')}`
    const { count, bytes } = manifest.images
    console.log(
      `snapshot ${name}: ${countOf(toRows(manifest), 'row')} and ${countOf(count, 'image')} of ${countOf(bytes, 'byte')} are whole`,
    )
    return undefined
  })
}

/** `catalejo backup drill`. Restores the newest snapshot into a scratch folder and compares a sample of it with the instance. */
export async function drillBackup({ config, positionals }: Options): Promise<void> {
  const from = readPlace(positionals, config)
  if (from === undefined) return
  await withRun(config, positionals, 'drill', async () => {
    const data = join(tmpdir(), `catalejo-drill-${randomBytes(6).toString('hex')}`)
    using progress = createProgress()
    try {
      const scratch = { data, databaseUrl: '', blobsUrl: undefined }
      const options = { snapshot: undefined, progress }
      const { images, manifest, rows } = await restore(from, scratch, options)
      await using restored = await openInstance(scratch, { existing: true })
      await using live = await openInstance(config, { existing: true })
      const compared = await compareSample(restored, live, manifest, progress)
      for (const fault of compared.faults) console.error(fault)
      const others =
        compared.changed > 0
          ? `; ${countOf(compared.changed, 'record')} left out that changed less than a minute before it, or since`
          : ''
      console.log(
        `snapshot ${manifest.name}: ${countOf(rows, 'row')} restored; ${countOf(compared.records, 'record')} and ${countOf(compared.images, 'image')} compared${others}`,
      )
      const missing = images.faultCount + compared.faults.length
      return missing === 0 ? undefined : countOf(missing, 'fault')
    } finally {
      await rm(data, { recursive: true, force: true })
    }
  })
}

/** Does something with regular backups and records it; with other places it is not recorded. Reports why it failed, if it did. */
async function withRun(
  config: Config,
  positionals: readonly string[],
  kind: RunKind,
  work: () => Promise<string | undefined>,
): Promise<void> {
  let failure: string | undefined
  if (positionals.length > 0) failure = await work()
  else {
    await using instance = await openInstance(config, { existing: true })
    failure = await recorded(instance.database, kind, work, (reason) => reason)
  }
  if (failure !== undefined) fail(failure)
}

/** Opens the named place, or that of regular backups. Undefined, and reported, if there is none. */
async function openNamed(positionals: readonly string[], config: Config): Promise<BackupPlace | undefined> {
  const location = readPlace(positionals, config)
  if (location === undefined) return undefined
  await assertBackupFolder(location)
  return openPlace(location, config.data)
}

const toRows = ({ tables }: Manifest) => tables.reduce((sum, { rows }) => sum + rows, 0)
