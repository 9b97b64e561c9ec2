import type { Clock } from '../../lib/clock.ts'
import type { Database, Transaction } from '../../storage/database/database.ts'
import { JobEnded, type JobRow } from './job.ts'
import * as queries from './queries.ts'

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
