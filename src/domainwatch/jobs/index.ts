import { InterruptibleSleep } from '../../lib/clock.ts'
import type { BlobStore } from '../../storage/blobs/blob-store.ts'
import type { StagedFile, Staging } from '../../storage/blobs/staging.ts'
import { randomId } from '../../storage/database/database.ts'
import { lockAccount } from '../../storage/database/dialect.ts'
import { DomainBatches } from '../batches.ts'
import type { DomainContext } from '../context.ts'
import { domainErrors } from '../errors.ts'
import { Gate } from '../../lib/gate.ts'
import { POOLS } from '../../lib/limits.ts'
import { ListFault } from '../../lib/errors.ts'
import { runBulk, type BulkProgress, type BulkRequest, type UndoRequest } from './bulk.ts'
import { JobEnded, JobRun, LISTED_MS, MAX_OPEN_JOBS, runImport, UNDO_MS, type ImportRequest } from './job.ts'
import { BULK_KINDS, type JobKind, type JobRow } from './queries.ts'
import * as queries from './queries.ts'

/** How often to look for jobs while one runs, and whether those that run were stopped. */
const IDLE_MS = 1_000
/** How often the receiver of a file says that it is alive. */
const SIGN_OF_LIFE_MS = 10_000
/** A job that fails for an unknown reason is tried again after this time, which doubles with each failure. */
const FIRST_RETRY_MS = 2_000
const MAX_ATTEMPTS = 8
const UNKNOWN_FAULT = 'El servicio no pudo terminarlo'
const NOT_RECEIVED = 'El archivo no llegó completo'
/** Jobs of an account in an answer. */
const MAX_LISTED = 100

interface JobsOptions extends DomainContext {
  readonly nameOfAccount: (id: number) => Promise<string | undefined>
  readonly staging: Pick<Staging, 'write'>
  /** Files of jobs, which every node can read. */
  readonly files: BlobStore
  /** Called when a job fails for an unknown reason. */
  readonly failed: (error: unknown, job: string) => void
}

interface Begun {
  readonly request?: BulkRequest
  readonly progress?: BulkProgress
}

/** A job whose file is being received. */
export interface Receiver {
  readonly id: string
  readonly store: (file: Uint8Array | AsyncIterable<Uint8Array>) => Promise<void>
  /** Lets the job run. */
  readonly finish: (request: ImportRequest | BulkRequest) => Promise<void>
  readonly abandon: () => Promise<void>
}

/**
 * Long work of accounts: stored, listed and stopped by any node, run by one of them (leased), one job of an account after the other,
 * and continued from what is stored when that node dies.
 */
export class Jobs {
  /** Woken when a job is ready. */
  readonly wakeup = new InterruptibleSleep()
  readonly #options: JobsOptions
  readonly #batches: DomainBatches
  readonly #imports = new Gate<string>(POOLS.imports)
  /** Failures in a row by job. */
  readonly #failures = new Map<string, number>()

  constructor(options: JobsOptions) {
    this.#options = options
    this.#batches = new DomainBatches(options)
  }

  /**
   * Adds a job whose file is about to be received.
   * @param begun what is known of it before that
   * @throws HttpError 429 if the account has its maximum
   */
  async receive(account: number, kind: 'import' | 'bulk', begun: Begun = {}): Promise<Receiver> {
    const { database, files, staging } = this.#options
    const id = randomId()
    await this.#add({
      id,
      account_id: account,
      kind,
      state: 'receiving',
      request: JSON.stringify(begun.request ?? {}),
      progress: JSON.stringify(begun.progress ?? {}),
      file: id,
    })
    const alive = () => database.transaction((tx) => tx.run(queries.noteReceiver(database.dialect, id)))
    const timer = setInterval(() => void alive().catch(() => {}), SIGN_OF_LIFE_MS).unref()
    let staged: StagedFile | undefined
    return {
      id,
      async store(file) {
        staged = await staging.write(file)
      },
      finish: async (request) => {
        if (staged === undefined) throw new Error('the file was not received')
        await using file = staged
        await files.put(id, file)
        clearInterval(timer)
        const received = queries.noteReceived(id, JSON.stringify(request))
        if ((await database.transaction((tx) => tx.run(received))) === 0) throw domainErrors.job_stopped()
        this.wakeup.wakeAll()
      },
      async abandon() {
        clearInterval(timer)
        await staged?.[Symbol.asyncDispose]()
        await files.remove(id)
        await database.transaction((tx) => tx.run(queries.deleteUnreceived(id)))
      },
    }
  }

  /**
   * Adds a job that undoes a bulk change, or what undid one.
   * @throws HttpError 404, 409 if it has not ended, 410 if that was too long ago, 429 if the account has its maximum
   */
  async undo(account: number, of: string): Promise<{ readonly id: string; readonly matched: number }> {
    const { ended_at: endedAt, file, progress } = await this.find(account, BULK_KINDS, of)
    if (endedAt === null) throw domainErrors.job_not_ended()
    if (file === null || endedAt <= this.#undoableSince()) throw domainErrors.undo_expired()
    const { matched = 0, first = 0, last = 0 }: Partial<BulkProgress> = JSON.parse(progress)
    const undo: UndoRequest = { of, first, last }
    const begun: BulkProgress = { matched, done: 0, skipped: 0 }
    const [request, id] = [JSON.stringify(undo), randomId()]
    const job = { id, account_id: account, kind: 'undo', state: 'waiting', file } as const
    await this.#add({ ...job, request, progress: JSON.stringify(begun) })
    this.wakeup.wakeAll()
    return { id, matched }
  }

  /** Returns the jobs of an account, newest first. */
  list(account: number, kinds: readonly JobKind[]): Promise<readonly JobRow[]> {
    return this.#options.database.all(queries.toJobs(account, kinds, MAX_LISTED))
  }

  /** @throws HttpError 404 */
  async find(account: number, kinds: readonly JobKind[], id: string): Promise<JobRow> {
    const job = await this.#options.database.first(queries.jobNamed(account, id))
    if (job === undefined || !kinds.includes(job.kind)) throw domainErrors.job_not_found()
    return job
  }

  /** Stops a job, unless it has ended. What it has stored stays. Returns it. @throws HttpError 404 */
  async stop(account: number, kinds: readonly JobKind[], id: string): Promise<JobRow> {
    const { database, clock } = this.#options
    await this.find(account, kinds, id)
    await database.transaction((tx) => tx.run(queries.stopJob(id, clock.now())), account)
    return this.find(account, kinds, id)
  }

  async hasWork(): Promise<boolean> {
    const { database, clock } = this.#options
    const ended = queries.anyEnded(database.dialect, clock.now() - LISTED_MS, this.#undoableSince())
    return (
      (await database.all(queries.runnableJobs())).length > 0 || (await database.first(ended)) !== undefined
    )
  }

  /** Runs all jobs, until there are none or `signal` aborts. Those in progress are continued by the next call, on any node. */
  async run(signal: AbortSignal): Promise<void> {
    const running = new Map<number, { readonly id: string; readonly stop: AbortController }>()
    const ends = new Set<Promise<void>>()
    let isIdle = false
    try {
      while (!signal.aborted) {
        await this.#sweep()
        const jobs = await this.#options.database.all(queries.runnableJobs())
        for (const { id, stop } of running.values()) if (!jobs.some((job) => job.id === id)) stop.abort()
        for (const job of jobs) {
          if (running.has(job.account_id)) continue
          const stop = new AbortController()
          running.set(job.account_id, { id: job.id, stop })
          const end = this.#run(job, AbortSignal.any([signal, stop.signal])).finally(() => {
            running.delete(job.account_id)
            ends.delete(end)
            this.wakeup.wakeAll()
          })
          ends.add(end)
        }
        // A client that saw its job end may request the next one.
        if (ends.size === 0 && isIdle) return
        isIdle = ends.size === 0
        await this.wakeup.sleep(IDLE_MS, signal)
      }
    } finally {
      for (const { stop } of running.values()) stop.abort()
      await Promise.all(ends)
    }
  }

  #undoableSince(): number {
    return this.#options.clock.now() - UNDO_MS
  }

  async #add(job: queries.NewJob): Promise<void> {
    const { database, clock } = this.#options
    const { dialect } = database
    const account = job.account_id
    await database.transaction(async (tx) => {
      await tx.all(lockAccount(dialect, account))
      const open = (await tx.first(queries.countOpen(account)))?.count ?? 0
      if (open >= MAX_OPEN_JOBS) throw domainErrors.too_many_jobs(MAX_OPEN_JOBS).with(RETRY)
      await tx.run(queries.insertJob(dialect, job, clock.now()))
    }, account)
  }

  /** Runs a job. Never rejects: what fails for an unknown reason is tried again some times. */
  async #run(job: JobRow, signal: AbortSignal): Promise<void> {
    const { clock, database, dictionary, failed, nameOfAccount } = this.#options
    const runner = randomId()
    const run = new JobRun(job, runner, JSON.parse(job.progress), clock)
    try {
      if ((await database.transaction((tx) => tx.run(queries.beginRun(job.id, runner, clock.now())))) === 0)
        return
      const account = { id: job.account_id, name: (await nameOfAccount(job.account_id)) ?? '' }
      const finished =
        job.kind === 'import'
          ? await runImport(
              { ...this.#options, split: dictionary.split, gate: this.#imports },
              account,
              run,
              signal,
            )
          : await runBulk({ ...this.#options, batches: this.#batches }, account, run, signal)
      await run.end(database, finished)
      this.#failures.delete(job.id)
    } catch (error) {
      if (signal.aborted || error instanceof JobEnded) return
      await this.#afterFailure(run, error, signal).catch((fault: unknown) => failed(fault, job.id))
    }
  }

  async #afterFailure(run: JobRun<object>, error: unknown, signal: AbortSignal): Promise<void> {
    const { database, failed } = this.#options
    const { id } = run.job
    const { progress } = run
    if (error instanceof ListFault) return run.end(database, { progress, fault: error.message })
    failed(error, id)
    const failures = (this.#failures.get(id) ?? 0) + 1
    this.#failures.set(id, failures)
    if (failures < MAX_ATTEMPTS)
      return new InterruptibleSleep().sleep(FIRST_RETRY_MS * 2 ** (failures - 1), signal)
    this.#failures.delete(id)
    await run.end(database, { progress, fault: UNKNOWN_FAULT })
  }

  /** Ends what died while it was received, and removes what is no longer needed of ended jobs. */
  async #sweep(): Promise<void> {
    const { clock, database, files } = this.#options
    const { dialect } = database
    const before = clock.now() - LISTED_MS
    const undoableSince = this.#undoableSince()
    if ((await database.first(queries.anyEnded(dialect, before, undoableSince))) === undefined) return
    await database.transaction((tx) => tx.run(queries.failUnreceived(dialect, clock.now(), NOT_RECEIVED)))
    for (const { file } of await database.all(queries.unneededFiles(undoableSince))) {
      await files.remove(file)
      await database.transaction((tx) => tx.run(queries.forgetFile(file)))
    }
    await database.transaction((tx) => tx.run(queries.deleteEnded(before)))
  }
}

const RETRY = { headers: { 'retry-after': '60' } }
