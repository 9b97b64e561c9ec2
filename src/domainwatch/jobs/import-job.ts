import { getNewest } from '../../storage/database/changes/change-log.ts'
import type { Transaction } from '../../storage/database/database.ts'
import type { BlobStore } from '../../storage/blobs/blob-store.ts'
import { faultIn, importList, type ImportSlots } from '../import/import-list.ts'
import type { ImportTarget } from '../import/store-rows.ts'
import { ListFault } from '../../lib/errors.ts'
import type { Effect, Reached } from '../import/writer.ts'
import { announceFreed } from '../registry/announce.ts'
import { MAX_FILE_BYTES, type ImportProgress, type ImportRequest } from './job.ts'
import type { Finished, JobRun } from './runs.ts'

export interface ImportJobOptions extends Omit<ImportTarget, 'account' | 'stored'> {
  readonly files: Pick<BlobStore, 'withLocalFile'>
  readonly slots: ImportSlots
}

/**
 * Imports the file of a job, from where an earlier run stopped. A dry run stores nothing but its progress, and starts again.
 * @throws ListFault if the file is not a list; JobEnded
 */
export async function runImport(
  options: ImportJobOptions,
  account: ImportTarget['account'],
  run: JobRun<ImportProgress>,
  signal: AbortSignal,
): Promise<Finished<ImportProgress>> {
  const { files, ...target } = options
  const { file, created_at: at } = run.job
  const request: ImportRequest = JSON.parse(run.job.request)
  const finished = await files.withLocalFile(file ?? '', importFile)
  if (finished === undefined) throw new ListFault('El archivo ya no está')
  return finished

  async function importFile(path: string): Promise<Finished<ImportProgress>> {
    const { isDry, format, source, window } = request
    const { database, clock } = target
    const after = isDry ? undefined : run.progress.reached
    let share = run.progress.share ?? 0
    const first = run.progress.first ?? (await getNewest(database))
    const progressAt = (reached: Reached): ImportProgress => ({ reached, ...run.pace(share) })
    const stored = async (tx: Transaction, _effect: Effect, reached: Reached | undefined) => {
      if (reached !== undefined)
        await run.save(tx, { ...progressAt(reached), first, last: await getNewest(tx) })
    }
    const list = {
      path,
      format,
      source: (detected: string) => source ?? `${detected}/${window}`,
      window,
      at,
      isDelimited: true,
    }
    const imported = await importList(
      list,
      { ...target, account, stored },
      {
        slots: options.slots,
        client: `account ${account.id}`,
        maxBytes: MAX_FILE_BYTES,
        signal,
        isDry,
        after,
        ...(isDry && {
          stored: (reached: Reached) => database.transaction((tx) => run.save(tx, progressAt(reached))),
        }),
        onProgress: (done) => void (share = done),
      },
    )
    const { counts, faults, list: result, skipped } = imported
    const line = run.progress.reached?.line ?? 0
    if (!isDry) await announceFreed(database, clock, signal)
    const progress: ImportProgress = {
      reached: { line, counts, faults },
      // A run that was interrupted at its very end finds its own list.
      skipped: after === undefined ? skipped : undefined,
      list: result,
      ...(!isDry && { first, last: await getNewest(database) }),
      share: 1,
    }
    return { progress, fault: faultIn(imported) }
  }
}
