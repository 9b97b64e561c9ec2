import { streamApi } from '../../api/client.ts'
import { queryClient } from '../../api/query-client.ts'
import { withRetries } from '../../api/retry.ts'
import { keyFor } from '../../api/session.ts'
import { removeTask, updateTask } from '../work/background-tasks.ts'
import { errorMessage } from '../../api/error-message.ts'
import {
  runOperation,
  type OperationSpec,
  type OperationHandle,
  type OperationOutcome,
} from '../work/operations.ts'
import { t, tn } from '../../i18n/index.ts'
import { storeWithRetries, type Change, type Values } from './changes.ts'
import type { Filters } from '../filters/filters.ts'
import { linesOf, type DomainRecord } from './records.ts'
import type { Mark } from './optimistic-updates.ts'

/** Maximum number of records; more need an import. */
const MAX_RECORDS = 200_000
/** Records per request: large enough to be fast, small enough to show progress and not to block others. */
const BATCH_RECORDS = 250
/** Concurrent requests. A browser opens six connections per host: some stay free for the user. */
const MAX_RUNNING = 2

/** Records read between two reports of progress. */
const TOLD_EVERY = 1_000

/** One view at a time; the next one waits. */
const SUBJECT = 'domains:view'
const VERBS = { revision: ['unreview', 'review'], discarded: ['restore', 'discard'] } as const

let lastId = 0

/** A stored change, with the values to undo it. */
interface Stored {
  readonly domain: string
  readonly before: Values
  readonly after: Values
  readonly status: number
}

/**
 * Sets a mark on every record of a view, loaded or not: in batches, with progress, on any screen. Skips records
 * that someone else changes in the meantime. Undo restores exactly the changed records.
 */
export function setMarkOfView(filters: Filters, mark: Mark, value: 0 | 1): OperationHandle | undefined {
  const key = keyFor('domainwatch')
  const verb = VERBS[mark][value]
  const stop = new AbortController()
  const stored: Stored[] = []
  const restored: Stored[] = []
  return runOperation({
    service: 'domainwatch',
    subjects: [SUBJECT],
    pending: t('bulk.reading'),
    failed: (reason) => t(`domains.failed.${verb}`, { what: t('bulk.view'), reason }),
    stop: () => stop.abort(),
    async run(report): Promise<OperationOutcome> {
      const isWanted = (record: DomainRecord) => record[mark] !== value
      const records = await withRetries(
        () => readView(filters, isWanted, stop.signal, key, (n) => report(tn('bulk.readSoFar', n))),
        () => report(t('operation.held', { text: t('bulk.reading') })),
        stop.signal,
      ).catch((error: unknown) => {
        if (stop.signal.aborted) return undefined
        throw error
      })
      if (records === undefined) return { text: t('bulk.nothing') }
      // Removing a mark is not a decision.
      const set = value === 1 ? { [mark]: value, seen: 1 } : { [mark]: value }
      const wanted = records.map((record) => ({ record, set }))
      const label = t(`domains.doing.${verb}`, { what: tn('domains.rows', records.length) })
      const ended = await runBatches(wanted, stored, { label, tell: report, stop, key })
      return outcomeOf(tn(`domains.done.${verb}`, stored.length), records.length - stored.length, ended)
    },
    undo: () => undoOperation(stored, restored),
  })
}

/**
 * Restores the values of each changed record, unless someone has changed it since.
 * @param restored by earlier attempts that did not restore all
 */
function undoOperation(stored: readonly Stored[], restored: Stored[]): OperationSpec {
  const key = keyFor('domainwatch')
  const stop = new AbortController()
  const what = () => tn('domains.rows', stored.length)
  return {
    service: 'domainwatch',
    subjects: [SUBJECT],
    pending: t('domains.undoing', { what: what() }),
    failed: (reason) => t('domains.undoFailed', { what: what(), reason }),
    stop: () => stop.abort(),
    async run(tell) {
      if (stored.length === 0) return { text: t('domains.nothingToUndo') }
      const known = new Set(restored.map(({ domain }) => domain))
      const left = stored.filter(({ domain }) => !known.has(domain))
      const wanted = left.map(({ domain, before, after, status }) => ({
        record: { name: domain, status, ...after },
        set: before,
      }))
      const label = t('domains.undoing', { what: what() })
      const ended = await runBatches(wanted, restored, { label, tell, stop, key })
      const done = t('domains.undoneOf', { what: tn('domains.rows', restored.length) })
      const outcome = outcomeOf(done, stored.length - restored.length, ended)
      // A failure, so that it can be repeated for the rest.
      if (stored.length - restored.length > ended.others) throw new Error(outcome.text)
      return outcome
    },
  }
}

/** Reports what was done, and what was not because of a stop, a failure or changes of others. */
function outcomeOf(done: string, left: number, { others, failure }: Ended): OperationOutcome {
  const untouched = left - others
  const parts = [
    ...(untouched > 0 ? [tn('bulk.stopped', untouched)] : []),
    ...(failure === undefined ? [] : [errorMessage(failure).replace(/[^.?!]$/, '$&.')]),
    ...(others > 0 ? [tn('bulk.others', others)] : []),
  ]
  return parts.length === 0 ? { text: done } : { text: `${done}. ${parts.join(' ')}`, isError: true }
}

type Known = Pick<DomainRecord, 'name' | 'status'> & Values

interface Wanted {
  readonly record: Known
  readonly set: Values
}

interface Run {
  readonly label: string
  readonly tell: (text: string) => void
  readonly stop: AbortController
  readonly key: string | undefined
}

interface Ended {
  /** Records that someone else changed in the meantime. */
  readonly others: number
  /** Why the rest was not stored. */
  readonly failure: unknown
}

/** Stores changes in batches and adds them to `stored`. Throws if none was stored. */
async function runBatches(wanted: readonly Wanted[], stored: Stored[], run: Run): Promise<Ended> {
  const { label, tell, stop, key } = run
  const id = `view-${++lastId}`
  let next = 0
  let done = 0
  let others = 0
  const failures: Error[] = []
  const show = (state: 'running' | 'waiting' = 'running') => {
    const progress = wanted.length === 0 ? 1 : done / wanted.length
    updateTask({ id, label, progress, state, to: 'dominios', author: key, stop: () => stop.abort() })
    tell(t('bulk.progress', { label, n: done, all: wanted.length }))
  }
  const work = async () => {
    while (next < wanted.length && failures.length === 0 && !stop.signal.aborted) {
      const batch = wanted.slice(next, next + BATCH_RECORDS)
      next += BATCH_RECORDS
      const refused = await storeWithRetries(batch.map(changeOf), key, (store) =>
        withRetries(store, () => show('waiting'), stop.signal),
      )
      for (const { record, set } of batch) {
        if (refused.has(record.name)) others++
        else stored.push(storedOf(record, set))
      }
      done += batch.length
      show()
    }
  }
  show()
  try {
    const fail = (error: unknown) => {
      if (!stop.signal.aborted)
        failures.push(error instanceof Error ? error : new Error('', { cause: error }))
    }
    await Promise.all(Array.from({ length: MAX_RUNNING }, () => work().catch(fail)))
    const [failure] = failures
    if (failure !== undefined && stored.length === 0) throw failure
    return { others, failure }
  } finally {
    removeTask(id)
    await queryClient.invalidateQueries({ queryKey: ['domains'] })
  }
}

function changeOf({ record, set }: Wanted): Change {
  const { name, status, revision, discarded, seen } = record
  const expect = { status, ...valuesOf({ revision, discarded, seen }) }
  return { domain: name, set, expect }
}

function storedOf(record: Known, set: Values): Stored {
  const { name, status, revision, discarded, seen } = record
  const all = valuesOf({ revision, discarded, seen })
  const before = Object.fromEntries(Object.entries(all).filter(([field]) => field in set))
  return { domain: name, status, before, after: { ...all, ...set } }
}

/** Without fields that the service omitted. */
function valuesOf(values: Readonly<Record<string, number | undefined>>): Values {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

/** Returns the matching records of a view; undefined if the signal aborted. */
async function readView(
  filters: Filters,
  isWanted: (record: DomainRecord) => boolean,
  signal: AbortSignal,
  key: string | undefined,
  tell: (read: number) => void,
): Promise<readonly DomainRecord[] | undefined> {
  const query = { ...filters, format: 'ndjson', fields: 'seen', ...(key === undefined ? {} : { api: key }) }
  const records: DomainRecord[] = []
  let read = 0
  try {
    for await (const line of linesOf(await streamApi('/api/v1/domainwatch/export', query, signal))) {
      if (line === '') continue
      if (++read % TOLD_EVERY === 0) tell(read)
      // Trusted: the types are generated from the OpenAPI document.
      const record: DomainRecord = JSON.parse(line)
      if (isWanted(record)) records.push(record)
      if (records.length > MAX_RECORDS) throw new Error(t('bulk.tooMany', { n: MAX_RECORDS }))
    }
  } catch (error) {
    if (signal.aborted) return undefined
    throw error
  }
  return records
}
