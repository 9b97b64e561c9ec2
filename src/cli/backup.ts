import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { backup } from '../operations/transfer/backup.ts'
import { compareSample } from '../operations/transfer/drill.ts'
import { readManifest, snapshotsIn, type Manifest } from '../operations/transfer/manifest.ts'
import { assertBackupFolder, openPlace, type BackupPlace } from '../operations/transfer/place.ts'
import { restore } from '../operations/transfer/restore.ts'
import { recorded, type RunKind } from '../operations/transfer/runs.ts'
import { checkSnapshot } from '../operations/transfer/table-files.ts'
import type { Config } from '../server/config/config.ts'
import type { Options } from './command.ts'
import { fail, usageFault } from './failure.ts'
import { openInstance } from './instance.ts'
import { imagesText, readPlace, reportFaults, withProgress } from './transfer.ts'
import { countOf } from '../lib/text.ts'

/** `catalejo backup create`. Exits with 0 if the snapshot is complete, otherwise with 1. */
export async function createBackup({ config, own, positionals }: Options): Promise<void> {
  const place = readPlace(positionals, config)
  if (place === undefined) return
  const { keep: text } = own
  if (text !== undefined && !/^[1-9]\d{0,5}$/.test(text)) return usageFault('--keep takes a number from 1 on')
  const isRegular = positionals.length === 0
  const keep = text === undefined ? (isRegular ? config.backupKeep : undefined) : Number(text)
  await withProgress(undefined, async (progress) => {
    await using instance = await openInstance(config, { existing: true })
    const create = () => backup(instance, config, place, { keep, progress })
    const outcome = isRegular
      ? await recorded(instance.database, 'backup', create, (one) =>
          one.kind === 'refused' ? one.reason : undefined,
        )
      : await create()
    if (outcome.kind === 'refused') return fail(outcome.reason)
    const { images, manifest, pruned } = outcome
    console.log(`snapshot ${manifest.name}: ${countOf(rowsOf(manifest), 'row')}; ${imagesText(images)}`)
    if (pruned !== undefined) {
      console.log(
        `removed ${countOf(pruned.snapshots, 'snapshot')}, ${countOf(pruned.files, 'file')}, ${countOf(pruned.images, 'image')}`,
      )
    }
    reportFaults(
      images,
      'These images are missing or damaged in the instance: see catalejo verify. Everything else is in the snapshot.',
    )
  })
}

/** `catalejo backup list`. Tab-separated: snapshot, version, rows, images, bytes of images. */
export async function listBackups({ config, positionals }: Options): Promise<void> {
  await withPlace({ config, positionals }, async (place) => {
    console.log(['SNAPSHOT', 'VERSION', 'ROWS', 'IMAGES', 'BYTES'].join('\t'))
    for (const name of await snapshotsIn(place)) {
      const manifest = await readManifest(place, name)
      if (typeof manifest === 'string') {
        fail(`snapshot ${name}: ${manifest}`)
        continue
      }
      const { images, program } = manifest
      console.log([name, program, rowsOf(manifest), images.count, images.bytes].join('\t'))
    }
  })
}

/** `catalejo backup check`. Exits with 0 if every byte of the newest snapshot, or of the named one, is right. */
export async function checkBackup({ config, own, positionals }: Options): Promise<void> {
  await withPlace({ config, positionals }, async (place) => {
    await withRun(config, positionals, 'check', async () => {
      const name = own['snapshot'] ?? (await snapshotsIn(place)).at(-1)
      if (name === undefined) return 'there is no snapshot'
      const manifest = await readManifest(place, name)
      if (typeof manifest === 'string') return `snapshot ${name}: ${manifest}`
      const faults = await withProgress(undefined, (progress) => checkSnapshot(place, manifest, progress))
      if (faults === undefined) return 'the check was not finished'
      for (const fault of faults) console.error(`snapshot ${name}: ${fault}`)
      if (faults.length > 0) return `snapshot ${name} has ${countOf(faults.length, 'fault')}`
      const { count, bytes } = manifest.images
      console.log(
        `snapshot ${name}: ${countOf(rowsOf(manifest), 'row')} and ${countOf(count, 'image')} of ${countOf(bytes, 'byte')} are whole`,
      )
      return undefined
    })
  })
}

/** `catalejo backup drill`. Restores the newest snapshot into a scratch folder and compares a sample of it with the instance. */
export async function drillBackup({ config, positionals }: Options): Promise<void> {
  const from = readPlace(positionals, config)
  if (from === undefined) return
  await withRun(config, positionals, 'drill', async () => {
    const data = join(tmpdir(), `catalejo-drill-${randomBytes(6).toString('hex')}`)
    try {
      const result = await withProgress(undefined, async (progress) => {
        const scratch = { data, databaseUrl: '', blobsUrl: undefined }
        const outcome = await restore(from, scratch, { open: openInstance, snapshot: undefined, progress })
        if (outcome.kind === 'refused') return { failure: outcome.reason }
        if (outcome.kind === 'unusable') return { failure: outcome.reasons.join('; ') }
        await using restored = await openInstance(scratch, { existing: true })
        await using live = await openInstance(config, { existing: true })
        const { records, images, faults } = await compareSample(restored, live, outcome.manifest, progress)
        for (const fault of faults) console.error(fault)
        console.log(
          `snapshot ${outcome.manifest.name}: ${countOf(outcome.rows, 'row')} restored; ${countOf(records, 'record')} and ${countOf(images, 'image')} compared`,
        )
        const missing = outcome.images.faultCount + faults.length
        return { failure: missing === 0 ? undefined : countOf(missing, 'fault') }
      })
      return result === undefined ? 'the drill was not finished' : result.failure
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

async function withPlace(
  { config, positionals }: Pick<Options, 'config' | 'positionals'>,
  use: (place: BackupPlace) => Promise<void>,
): Promise<void> {
  const location = readPlace(positionals, config)
  if (location === undefined) return
  await assertBackupFolder(location)
  using place = await openPlace(location, config.data)
  await use(place)
}

const rowsOf = ({ tables }: Manifest) => tables.reduce((sum, { rows }) => sum + rows, 0)
