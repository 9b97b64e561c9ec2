import { statfs } from 'node:fs/promises'
import { resolve } from 'node:path'
import { lastRuns, type BackupRun } from '../operations/transfer/instance.ts'
import { logState } from '../storage/database/changes/change-log.ts'
import { VERSION } from '../lib/version.ts'
import type { Context } from './context.ts'
import { clockStepMs } from './doctor/index.ts'
import { deadDestinations } from '../operations/queries.ts'

/** Adds what alerts are about beyond single requests: version, clock, disk, the log of changes, destinations and backups. */
export function measureInstance(context: Context): void {
  const { clock, config, database, limits, metrics } = context
  metrics.measure(
    { catalejo_info: ['Version of the program, as a label', () => new Map([[VERSION, 1]])] },
    { label: 'version' },
  )
  metrics.measure(
    {
      catalejo_clock_step_seconds: [
        'How far the clock was moved since the process was started',
        () => clockStepMs(clock) / 1_000,
      ],
      catalejo_disk_free_bytes: [
        'Free space for the data folder',
        async () => {
          const { bavail, bsize } = await statfs(resolve(config.data))
          return bavail * bsize
        },
      ],
      catalejo_changes_kept_ratio: [
        'Changes kept for followers, as a share of the most that are kept',
        async () => {
          const { floor = 0, newest = 0 } = (await database.first(logState())) ?? {}
          return (newest - floor) / limits.changesMax
        },
      ],
    },
    { isShared: true },
  )
  const readDead = async () => {
    const counts = new Map<string, number>()
    for (const { channel } of await database.all(deadDestinations()))
      counts.set(channel, (counts.get(channel) ?? 0) + 1)
    return counts
  }
  metrics.measure(
    { catalejo_watch_destinations_dead: ['Destinations of watches whose messages were given up', readDead] },
    { label: 'channel' },
  )
  measureBackups(context)
}

/** Adds metrics of the last backup, check, drill and verification. */
function measureBackups({ clock, database, metrics }: Context): void {
  const figures = {
    age_seconds: ['Time since the last success', ({ succeeded_at: at }) => at && (clock.now() - at) / 1000],
    duration_seconds: ['Duration of the last run', ({ duration_ms: ms }) => ms / 1000],
    success: ['1 if the last run succeeded, else 0', ({ error }) => (error === null ? 1 : 0)],
  } satisfies Readonly<Record<string, readonly [string, (run: BackupRun) => number | null]>>
  for (const [name, [help, read]] of Object.entries(figures)) {
    const readRuns = async () => {
      const values = (await lastRuns(database)).map((run) => [run.kind, read(run)] as const)
      return new Map(values.flatMap(([kind, value]) => (value === null ? [] : [[kind, value]])))
    }
    const description = `${help} of a regular backup, check, drill or verification`
    metrics.measure({ [`catalejo_backup_${name}`]: [description, readRuns] }, { label: 'kind' })
  }
}
