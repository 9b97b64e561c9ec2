import { systemClock, type Clock } from '../../lib/clock.ts'
import { asError } from '../../lib/errors.ts'
import type { Database } from '../../storage/database/database.ts'
import { backupRuns, recordRun, type BackupRun, type RunKind } from '../queries.ts'

export type { BackupRun, RunKind }

/** Returns the last run of each kind. */
export const lastRuns = (database: Database): Promise<BackupRun[]> => database.all(backupRuns())

/**
 * Does `work` and records how it ended, for metrics and the next regular run.
 * @param work returns why it failed, if it did
 */
export async function recorded<T>(
  database: Database,
  kind: RunKind,
  work: () => Promise<T>,
  failureOf: (result: T) => string | undefined,
  clock: Clock = systemClock,
): Promise<T> {
  const attempted_at = clock.now()
  const start = performance.now()
  const record = (error: string | undefined) => {
    const duration_ms = Math.round(performance.now() - start)
    return database.transaction((tx) => tx.run(recordRun(kind, attempted_at, duration_ms, error ?? null)))
  }
  try {
    const result = await work()
    const failure = failureOf(result)
    const recording = record(failure)
    // The database may be what failed.
    await (failure === undefined ? recording : recording.catch(() => {}))
    return result
  } catch (error) {
    const { name, message } = asError(error)
    // Work that was interrupted is begun again.
    if (name !== 'AbortError') await record(message).catch(() => {})
    throw error
  }
}
