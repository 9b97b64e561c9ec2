import type { Clock } from '../../lib/clock.ts'
import { ListFault } from '../../lib/errors.ts'
import type { Gate } from '../../lib/gate.ts'
import type { BlobStore } from '../../storage/blobs/blob-store.ts'
import { getNewest } from '../../storage/database/changes/change-log.ts'
import type { Database, Transaction } from '../../storage/database/database.ts'
import type { ImportFormat } from '../import/format.ts'
import { faultIn, importList } from '../import/import-list.ts'
import type { Effect, ImportTarget, Reached } from '../import/writer.ts'
import { announceFreed, type ListResult } from '../registry/apply-list.ts'
import type { Skipped, Window } from '../registry/rules.ts'
import * as queries from './queries.ts'
import type { JobRow } from './queries.ts'

/** Jobs of an account that have not ended. One of them runs; the others wait or are being received. */
export const MAX_OPEN_JOBS = 4
/** Largest file of a job, as it is sent and after decompression. */
export const MAX_FILE_BYTES = 256 * 1024 * 1024

const DAY_MS = 24 * 60 * 60_000
/** How long ended jobs are listed. */
export const LISTED_DAYS = 30
export const LISTED_MS = LISTED_DAYS * DAY_MS

/** How long a bulk change can be undone after it ended. */
export const UNDO_MS = DAY_MS

/** What of a job is done, from 0 to 1, and how long the rest will take at this pace. */
export interface Pace {
  readonly share?: number
  readonly secondsLeft?: number
}

/** The ids of a job's changes in the log are after the first, up to the last; undefined before there are any. */
export interface ChangeRange {
  readonly first?: number
  readonly last?: number
}

/** Another process runs the job now, or it was stopped: nothing more may be stored. */
export class JobEnded extends Error {}

/** How a job ends: what it did, and why it failed, in Spanish. */
export interface Finished<Progress> {
  readonly progress: Progress
  readonly fault?: string | undefined
}

/** One run of a job, of which only the last may change its progress. */
export class JobRun<Progress extends object> {
  readonly job: JobRow
  readonly runner: string
  #progress: Progress
  readonly #clock: Clock
  readonly #began: number
  readonly #beganAt: number

  /** @param progress as it was when the run began, with the share of the job that was done */
  constructor(job: JobRow, runner: string, progress: Progress & { readonly share?: number }, clock: Clock) {
    this.job = job
    this.runner = runner
    this.#progress = progress
    this.#clock = clock
    this.#began = progress.share ?? 0
    this.#beganAt = clock.now()
  }

  get progress(): Progress {
    return this.#progress
  }

  /** Returns what a job shows that is done to this share. */
  pace(share: number): { readonly share: number; readonly secondsLeft?: number } {
    const done = share - this.#began
    if (done <= 0) return { share }
    const passedMs = Math.max(0, this.#clock.now() - this.#beganAt)
    return { share, secondsLeft: Math.ceil((passedMs * (1 - share)) / done / 1_000) }
  }

  /**
   * Stores progress together with what it is about.
   * @throws JobEnded if the job was stopped or runs elsewhere
   */
  async save(tx: Transaction, progress: Progress): Promise<void> {
    const { id } = this.job
    if ((await tx.run(queries.saveProgress(id, this.runner, JSON.stringify(progress)))) === 0)
      throw new JobEnded()
    this.#progress = progress
  }

  /** Ends the job unless it has ended or runs elsewhere. */
  async end(database: Database, { progress, fault }: Finished<object>): Promise<void> {
    const { id } = this.job
    const end = async (tx: Transaction) => {
      await tx.run(queries.saveProgress(id, this.runner, JSON.stringify(progress)))
      const state = fault === undefined ? 'done' : 'failed'
      await tx.run(queries.endRun(id, this.runner, state, fault ?? null, this.#clock.now()))
    }
    await database.transaction(end)
  }
}

export interface ImportRequest {
  /** Name of the file. */
  readonly name?: string | undefined
  readonly format?: ImportFormat | undefined
  readonly source?: string | undefined
  readonly window: Window
  readonly isDry: boolean
}

export interface ImportProgress extends Pace, ChangeRange {
  /** What is stored. */
  readonly reached?: Reached
  /** Why the list changed nothing, and what its source learnt from it. */
  readonly skipped?: Skipped | undefined
  readonly list?: ListResult
}

interface ImportJobOptions extends Omit<ImportTarget, 'account' | 'stored'> {
  readonly files: Pick<BlobStore, 'withLocalFile'>
  readonly gate: Gate<string>
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
    const imported = await importList(
      { path, format, source, window, at },
      { ...target, account, stored },
      {
        gate: options.gate,
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
