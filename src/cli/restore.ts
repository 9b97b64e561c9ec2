import { restore, type RestoreOutcome } from '../operations/transfer/restore.ts'
import { readBackupAddress } from './backup-address.ts'
import { faultLines, imagesText } from './moving-text.ts'
import { fail, failureLine } from './failure.ts'
import type { Options } from './options.ts'
import { createProgress } from './progress.ts'

const REFUSALS: Readonly<Record<Extract<RestoreOutcome, { kind: 'refused' }>['reason'], string>> = {
  'own-place': 'backups are not where the instance itself has its data',
  'not-empty': 'the instance is not empty: give it an empty data folder and database',
  'newer-database': 'the database has a newer schema than the snapshot: give an empty one',
}

/** `catalejo restore`. Exit 0 when all of the snapshot is there again, verified; 1 otherwise. */
export async function restoreCommand(options: Options): Promise<void> {
  const address = readBackupAddress('restore', options.positionals)
  if (address === undefined) return
  const progress = createProgress()
  try {
    tell(await restore(address, options.config, { snapshot: options.own['snapshot'], progress }))
  } catch (error) {
    progress.end()
    fail(failureLine(error))
    if (progress.hasBegun) console.error('It is not restored. Run the same again: it goes on where it is.')
  }
}

function tell(outcome: RestoreOutcome): void {
  switch (outcome.kind) {
    case 'refused':
      console.error(`catalejo: ${REFUSALS[outcome.reason]}`)
      process.exitCode = 1
      return
    case 'unusable': {
      const { others, reasons, snapshot = '' } = outcome
      for (const reason of reasons) console.error(`snapshot ${snapshot}: ${reason}`)
      console.error('catalejo: nothing was restored')
      if (others.length > 0) console.error(`Other snapshots: ${others.join(' ')}`)
      process.exitCode = 1
      return
    }
    case 'restored': {
      const { images, manifest, rows } = outcome
      console.log(`snapshot ${manifest.name}: ${rows} rows written, all verified; ${imagesText(images)}`)
      if (images.faultCount === 0) return
      for (const line of faultLines(images)) console.error(line)
      const { count } = manifest.images
      console.error(
        `${images.faultCount} of ${count} images could not be restored; the records of all, and the other images, are there`,
      )
      process.exitCode = 1
    }
  }
}
