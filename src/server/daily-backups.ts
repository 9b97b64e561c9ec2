import { backup, type BackupOutcome } from '../operations/transfer/backup.ts'
import type { BackupLocation } from '../operations/transfer/place.ts'
import { lastRuns, recorded } from '../operations/transfer/runs.ts'
import type { LeasedWork } from '../storage/database/leases.ts'
import type { Context } from './context.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A backup a day, on one node. One that failed is repeated after an hour. */
export function dailyBackups(
  { blobs, clock, config, database, log }: Context,
  place: BackupLocation,
): LeasedWork {
  return {
    name: 'daily backup',
    everyMs: MINUTE,
    pending: async () => {
      const last = (await lastRuns(database)).find(({ kind }) => kind === 'backup')
      if (last === undefined) return true
      const age = clock.now() - last.attempted_at
      // One from the future is of a clock that was ahead.
      return age < 0 || age >= (last.error === null ? DAY : HOUR)
    },
    run: async (signal) => {
      // Called for each page of rows and each image: the process may stop, or have lost its turn.
      const progress = { begin() {}, add: () => signal.throwIfAborted(), end() {} }
      const create = () => backup({ blobs, database }, config, place, { keep: config.backupKeep, progress })
      const failureOf = (one: BackupOutcome) => {
        if (one.kind === 'refused') return one.reason
        return one.images.faultCount === 0
          ? undefined
          : `${one.images.faultCount} images are missing or damaged`
      }
      const outcome = await recorded(database, 'backup', create, failureOf, clock).catch((error: unknown) => {
        // A run that is given up is started again immediately, by another process.
        if (signal.aborted) throw error
        return { kind: 'refused' as const, reason: String(error) }
      })
      if (outcome.kind === 'refused') log.error({ reason: outcome.reason }, 'daily backup failed')
      else log.info({ snapshot: outcome.manifest.name }, 'daily backup')
    },
  }
}
