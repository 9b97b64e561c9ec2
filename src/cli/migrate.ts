import type { Config, Flags } from '../server/config/config.ts'
import { settings } from '../server/config/settings.ts'
import type { InstanceLocation } from '../operations/transfer/instance.ts'
import { migrate, type MigrationOutcome } from '../operations/transfer/migrate.ts'
import { faultLines, imagesText } from './moving-text.ts'
import { fail, failureLine } from './failure.ts'
import type { Options } from './options.ts'
import { createProgress } from './progress.ts'
import { usageFault } from './usage.ts'

const REFUSALS: Readonly<Record<Extract<MigrationOutcome, { kind: 'refused' }>['reason'], string>> = {
  'nothing-to-move': 'the target is the source: give --to-database-url, --to-blobs-url or --to-data',
  'same-database': 'both addresses are of the same database',
  'own-data':
    'the target holds data of its own: an instance that is or was served, or another one. --force replaces it all',
  'own-images': 'the target holds images that the source does not know. --force puts ours beside them',
}

/** `catalejo migrate`. Exit 0 when the copy is equal and every image was read back; 1 otherwise. */
export async function migrateCommand(options: Options): Promise<void> {
  const to = targetOf(options.config, options.own)
  if (to === undefined) return
  const progress = createProgress()
  try {
    const outcome = await migrate({
      from: options.config,
      to,
      force: options.switches.has('force'),
      progress,
    })
    tell(outcome)
  } catch (error) {
    progress.end()
    fail(failureLine(error))
    if (progress.hasBegun)
      console.error('The copy is not finished. Run the same again: it goes on where it is.')
  }
}

function tell(outcome: MigrationOutcome): void {
  switch (outcome.kind) {
    case 'refused':
      console.error(`catalejo: ${REFUSALS[outcome.reason]}`)
      process.exitCode = 1
      return
    case 'changing':
      console.error(
        'catalejo: the source is written to all the while. Stop the service and run it again: only what changed is left.',
      )
      process.exitCode = 1
      return
    case 'equal': {
      const { rows, images, passes } = outcome
      const parts = [
        ...(rows === undefined ? [] : [`${rows} rows written, all equal to the source`]),
        ...(images === undefined ? [] : [imagesText(images)]),
      ]
      console.log(`${parts.join('; ')}; ${passes} passes`)
      if (images !== undefined && images.faultCount > 0) {
        for (const line of faultLines(images)) console.error(line)
        console.error('These images are not whole at the source: see catalejo verify.')
        process.exitCode = 1
        return
      }
      console.log('Done. What is written to the source from now on is not in the copy.')
    }
  }
}

/** What is not said stays where it is, or with `--to-data` goes into that folder. */
function targetOf(from: Config, own: Flags): InstanceLocation | undefined {
  const { 'to-data': data, 'to-database-url': databaseUrl, 'to-blobs-url': blobsUrl } = own
  const database = databaseUrl === undefined ? undefined : settings.databaseUrl.parse(databaseUrl)
  const blobs = blobsUrl === undefined ? undefined : settings.blobsUrl.parse(blobsUrl)
  if (database !== undefined && 'takes' in database) {
    usageFault(`--to-database-url takes ${database.takes}`)
    return undefined
  }
  if (blobs !== undefined && 'takes' in blobs) {
    usageFault(`--to-blobs-url takes ${blobs.takes}`)
    return undefined
  }
  const stay: InstanceLocation = data === undefined ? from : { data, databaseUrl: '', blobsUrl: undefined }
  return {
    data: stay.data,
    databaseUrl: database === undefined ? stay.databaseUrl : database.value,
    blobsUrl: blobs === undefined ? stay.blobsUrl : blobs.value,
  }
}
