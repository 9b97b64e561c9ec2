import { backup, type BackupOutcome } from '../operations/transfer/backup.ts'
import { readBackupAddress } from './backup-address.ts'
import { faultLines, imagesText } from './moving-text.ts'
import { failureLine } from './failure.ts'
import type { Options } from './options.ts'
import { createProgress } from './progress.ts'
import { usageFault } from './usage.ts'

/** `catalejo backup`. Exit 0 when the snapshot is there and whole; 1 otherwise. */
export async function backupCommand(options: Options): Promise<void> {
  const address = readBackupAddress('backup', options.positionals)
  if (address === undefined) return
  const { keep: text } = options.own
  if (text !== undefined && !/^[1-9]\d{0,5}$/.test(text)) return usageFault('--keep takes a number from 1 on')
  const keep = text === undefined ? undefined : Number(text)
  const progress = createProgress()
  try {
    tell(await backup(options.config, address, { keep, progress }))
  } catch (error) {
    progress.end()
    console.error(`catalejo: ${failureLine(error)}`)
    process.exitCode = 1
  }
}

function tell(outcome: BackupOutcome): void {
  switch (outcome.kind) {
    case 'refused':
      console.error(
        outcome.reason === 'own-place'
          ? 'catalejo: backups do not go where the instance itself has its data'
          : 'catalejo: there are backups of another instance: take a place of its own for each',
      )
      process.exitCode = 1
      return
    case 'busy': {
      const until = new Date(outcome.until).toISOString()
      console.error(
        `catalejo: another backup is under way, or was cut off: try again, at the latest after ${until}`,
      )
      process.exitCode = 1
      return
    }
    case 'written': {
      const { images, manifest, pruned } = outcome
      const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
      console.log(`snapshot ${manifest.name}: ${rows} rows; ${imagesText(images)}`)
      if (pruned !== undefined) {
        console.log(`removed ${pruned.snapshots} snapshots, ${pruned.files} files, ${pruned.images} images`)
      }
      if (images.faultCount === 0) return
      for (const line of faultLines(images)) console.error(line)
      console.error(
        'These images are not whole in the instance: see catalejo verify. All else is in the snapshot.',
      )
      process.exitCode = 1
    }
  }
}
