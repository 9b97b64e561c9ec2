import { createReadStream } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../lib/clock.ts'
import { getNewest } from '../../storage/database/changes/change-log.ts'
import { toChange, type Fields } from '../../storage/database/changes/change.ts'
import type { Database, Reader } from '../../storage/database/database.ts'
import type { BlobStore } from '../../storage/blobs/blob-store.ts'
import { parseParameters } from '../../http/parameters.ts'
import type { DomainBatches, RecordChanges, RestoredMarks } from '../batches.ts'
import type { ContextAt } from '../filter-context.ts'
import { withDerived } from '../filtered-record.ts'
import { filterParameters, matches, readFilters } from '../filters.ts'
import { readLines } from '../import/lines.ts'
import { ListFault } from '../../lib/errors.ts'
import type { RecordRow } from '../queries-records.ts'
import type { Rules } from '../rules/index.ts'
import type { SplitName } from '../words/dictionary.ts'
import { marksFor } from './bulk-request.ts'
import type { BulkProgress, BulkRequest, UndoRequest } from './job.ts'
import * as queries from './queries.ts'
import type { Finished, JobRun } from './runs.ts'

/** Records per transaction. */
const BATCH = 1_000

export interface BulkJobOptions {
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
  const parsed = parseParameters(filterParameters, saved)
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
