import { createReadStream } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import type { Gate } from '../../lib/gate.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Database, Transaction, Reader } from '../../storage/database/database.ts'
import {
  JobEnded,
  type JobRow,
  MAX_FILE_BYTES,
  type ImportProgress,
  type ImportRequest,
  type BulkProgress,
  type BulkRequest,
  type UndoRequest,
} from './job.ts'
import { getNewest } from '../../storage/database/changes/change-log.ts'
import type { BlobStore } from '../../storage/blobs/blob-store.ts'
import { faultIn, importList } from '../import/import-list.ts'
import type { ImportTarget, Effect, Reached } from '../import/writer.ts'
import { ListFault } from '../../lib/errors.ts'
import { announceFreed } from '../registry/apply-list.ts'
import { toChange, type Fields } from '../../storage/database/changes/change.ts'
import type { DomainBatches, RecordChanges, RestoredMarks } from '../batches.ts'
import { type ContextAt, withDerived } from '../filtered-record.ts'
import { matches, parseFilters, readFilters } from '../filters.ts'
import { readLines } from '../import/source.ts'
import type { RecordRow } from '../queries-records.ts'
import type { Rules } from '../rules/index.ts'
import type { SplitName } from '../words.ts'
import { marksFor } from './bulk-request.ts'
import * as queries from './queries.ts'

/** How a job ends: what it did, and why it failed, in Spanish. */
interface Finished<Progress> {
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

/** Records per transaction. */
const BATCH = 1_000

interface BulkJobOptions {
  readonly database: Database
  readonly clock: Clock
  readonly batches: Pick<DomainBatches, 'change'>
  readonly files: Pick<BlobStore, 'withLocalFile'>
  readonly split: SplitName
  readonly contextAt: ContextAt
  readonly rules: Pick<Rules, 'current'>
}

interface Account {
  readonly id: number
  readonly name: string
}

/** The outcome of a batch of records. */
interface Plan extends RecordChanges {
  readonly skipped: number
}

type Decide = (tx: Reader, names: readonly string[], records: readonly RecordRow[]) => Promise<Plan>

/**
 * Changes the records that a file names, from where an earlier run stopped.
 * @throws JobEnded
 */
export async function runBulk(
  options: BulkJobOptions,
  account: Account,
  run: JobRun<BulkProgress>,
  signal: AbortSignal,
): Promise<Finished<BulkProgress>> {
  const { database, batches, files } = options
  const { file, kind, request } = run.job
  const decide =
    kind === 'undo' ? undoing(options, account, JSON.parse(request)) : setting(options, JSON.parse(request))

  async function changeBatch(names: readonly string[]): Promise<void> {
    const before = run.progress
    let skipped = 0
    const change = async (tx: Reader, records: readonly RecordRow[]) => {
      const plan = await decide(tx, names, records)
      skipped = plan.skipped
      return plan
    }
    const first = before.first ?? (await getNewest(database))
    await batches.change({ accountId: account.id, account: account.name }, names, change, async (tx) => {
      const done = before.done + names.length - skipped
      const progress = { ...before, done, skipped: before.skipped + skipped, first }
      const share = (progress.done + progress.skipped) / before.matched
      const last = await getNewest(tx)
      await run.save(tx, { ...progress, last, ...run.pace(share) })
    })
  }

  const finished = await files.withLocalFile(file ?? '', async (path) => {
    let position = run.progress.done + run.progress.skipped
    let names: string[] = []
    for await (const { text = '' } of readLines(createReadStream(path))) {
      if (position-- > 0) continue
      names.push(text)
      if (names.length < BATCH) continue
      signal.throwIfAborted()
      await changeBatch(names)
      names = []
      await setImmediate()
    }
    signal.throwIfAborted()
    if (names.length > 0) await changeBatch(names)
    return { progress: { ...run.progress, share: 1 } }
  })
  if (finished === undefined) throw new ListFault('La lista de registros ya no está')
  return finished
}

/** Sets marks in records that still match. */
function setting(
  { clock, contextAt, rules, split }: BulkJobOptions,
  { filters: saved, set }: BulkRequest,
): Decide {
  const parsed = parseFilters(saved)
  if (!parsed.ok) throw new ListFault('El servicio ya no conoce uno de los filtros')
  const filters = readFilters(parsed.values)
  return async (tx, names, records) => {
    const context = contextAt(clock.now())
    const { hides } = await rules.current(tx)
    const wanted = records.filter((record) => matches(filters, withDerived(record, split, hides), context))
    const marks = wanted.flatMap((record) => marksFor(record.name, record, set) ?? [])
    return { marks, skipped: names.length - marks.length }
  }
}

/** What must be as the job left it: everything that members see of a record except the time of its last change. */
const COMPARED = [
  'agent',
  'status',
  'reserved',
  'revision',
  'discarded_at',
  'date_reg',
  'seen_at',
  'seen_by',
  'note',
  'tags',
] as const

/** Gives records back what they had before a job. What it did is in the log of changes. */
function undoing({ database: { dialect } }: BulkJobOptions, account: Account, request: UndoRequest): Decide {
  const { first, last } = request
  return async (tx, names, records) => {
    const present = new Map(records.map((record) => [record.name, record]))
    const changes = await tx.values(queries.firstChanges(dialect, account.id, names, first, last))
    const restored: RestoredMarks[] = []
    for (const row of changes) {
      const { key = '', before = null, after = null } = toChange(row, '') ?? {}
      const record = present.get(key)
      const isAsLeft = COMPARED.every((field) => record?.[field] === after?.[field])
      if (before !== null && isAsLeft) restored.push(marksIn(key, before))
    }
    return { restored, skipped: changes.length - restored.length }
  }
}

function marksIn(name: string, fields: Fields): RestoredMarks {
  const toNumber = (field: string) => (fields[field] === null ? null : Number(fields[field]))
  const textOf = (field: string) => (fields[field] === null ? null : String(fields[field]))
  return {
    name,
    revision: toNumber('revision'),
    reserved: toNumber('reserved'),
    discarded_at: toNumber('discarded_at'),
    seen_at: toNumber('seen_at'),
    seen_by: textOf('seen_by'),
    note: textOf('note'),
    tags: textOf('tags'),
  }
}
