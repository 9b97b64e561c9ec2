import { ApiError, callApi } from '../../api/client.ts'
import { errorMessage } from '../../api/error-message.ts'
import { queryClient } from '../../api/query-client.ts'
import { t, tn } from '../../i18n/index.ts'
import { recordFilters, type Filters } from '../filters/filters.ts'
import {
  BULK,
  followJob,
  isFollowed,
  isRequested,
  rememberJob,
  requestOnce,
  type BulkJob,
} from '../work/jobs.ts'
import {
  runOperation,
  type OperationHandle,
  type OperationOutcome,
  type OperationSpec,
} from '../work/operations.ts'
import { recount } from './changes.ts'
import '../../i18n/texts/bulk.ts'

/** What to set in each record, as the API takes it. */
export type BulkSet = NonNullable<BulkJob['set']>

/** Which records: those of a view, or some by their names. */
export interface BulkTarget {
  readonly filters: Filters
  readonly names?: readonly string[] | undefined
  /** Number of records that the user saw; undefined if not counted. */
  readonly count: number | undefined
}

/** Changes many records by a job of the service, which can be stopped and undone, also after a reload. */
export function changeInBulk(target: BulkTarget, set: BulkSet): OperationHandle | undefined {
  const { filters, names, count } = target
  const body = { set: JSON.stringify(set), ...(names === undefined ? {} : { data: JSON.stringify(names) }) }
  const expect = count === undefined || names !== undefined ? {} : { expect: count }
  const query = { ...recordFilters(filters), ...expect }
  return runOperation(
    following({
      verb: toVerb(set),
      count,
      request: async () => (await callApi('POST /api/v1/domainwatch/bulk', { query, body })).data.id,
      isIt: (job) => job.undo_of === null && sameSet(job.set, set),
      onFailed(error) {
        if (!(error instanceof ApiError) || error.matched === undefined) return
        const { matched } = error
        recount.set({ count: matched, again: () => void changeInBulk({ ...target, count: matched }, set) })
      },
    }),
  )
}

/** Follows jobs of the account, as after a reload. */
export function resumeBulk(jobs: readonly BulkJob[]): void {
  for (const job of jobs.toReversed()) {
    const { id, matched: count, set } = job
    if (isFollowed(id) || isRequested(BULK, job)) continue
    runOperation(
      following({
        verb: set === null ? 'undo' : toVerb(set),
        count,
        request: () => Promise.resolve(id),
        isIt: () => false,
      }),
    )
  }
}

/**
 * The operation that undoes a job of the account which has ended by then.
 * @param getId returns undefined if there was no job
 */
export function undoingJob(getId: () => string | undefined, count?: number, subject?: string): OperationSpec {
  return following({
    verb: 'undo',
    count,
    subject,
    async request() {
      const id = getId()
      if (id === undefined) throw new Error(t('domains.nothingToUndo'))
      return (await callApi('POST /api/v1/domainwatch/bulk/undo', { body: { id } })).data.id
    },
    isIt: (job) => job.undo_of === getId(),
  })
}

export type Verb = 'review' | 'unreview' | 'discard' | 'restore' | 'tag' | 'note' | 'see'

/** What a change does, by what it sets. */
export function toVerb({ discarded, revision, note, add_tags: added, remove_tags: removed }: BulkSet): Verb {
  if (discarded !== undefined) return discarded === 1 ? 'discard' : 'restore'
  if (revision !== undefined) return revision === 1 ? 'review' : 'unreview'
  if (added !== undefined || removed !== undefined) return 'tag'
  return note === undefined ? 'see' : 'note'
}

interface Following {
  readonly verb: Verb | 'undo'
  readonly count: number | undefined
  readonly subject?: string | undefined
  readonly request: () => Promise<string>
  /** Whether a job is the requested one, whose answer was lost. */
  readonly isIt: (job: BulkJob) => boolean
  readonly onFailed?: (error: unknown) => void
}

let lastSubject = 0

/** Requests a job and follows it to its end. */
function following(asked: Following): OperationSpec {
  const { verb, count, request, isIt, onFailed } = asked
  const { subject = `job:${++lastSubject}` } = asked
  const what = count === undefined ? t('bulk.view') : tn('domains.rows', count)
  const pending = verb === 'undo' ? t('domains.undoing', { what }) : t(`domains.doing.${verb}`, { what })
  let id: string | undefined
  let isStopped = false
  const stop = () => {
    isStopped = true
    if (id !== undefined) void BULK.stop(id).catch(() => undefined)
  }
  return {
    subjects: [subject],
    isJob: true,
    pending,
    failed: (reason) =>
      verb === 'undo'
        ? t('domains.undoFailed', { what, reason })
        : t(`domains.failed.${verb}`, { what, reason }),
    stop,
    async run({ tell, onWait, handOver }) {
      try {
        id = await requestOnce(BULK, request, isIt, onWait)
      } catch (error) {
        onFailed?.(error)
        throw error
      }
      const forget = rememberJob(id)
      handOver()
      if (isStopped) stop()
      try {
        const job = await followJob(BULK, id, ({ done, skipped, matched, waiting }) => {
          const n = done + skipped
          tell(
            waiting === 1
              ? t('bulk.waiting', { label: pending })
              : t('bulk.progress', { label: pending, n, all: matched }),
          )
          return { label: pending, progress: matched === 0 ? 1 : n / matched }
        })
        return outcomeOf(job, verb)
      } catch (error) {
        return { text: t('bulk.goesOn', { label: pending, reason: errorMessage(error) }), isError: true }
      } finally {
        forget()
        // Not waited for: the end of the job would not be reported if the page were reloaded meanwhile.
        void queryClient.invalidateQueries({ queryKey: ['domains'] })
      }
    },
    ...(verb === 'undo' ? {} : { undo: () => undoingJob(() => id, count, subject) }),
  }
}

/** Reports what a job did, and what it did not because of a stop, a failure or changes of others. */
function outcomeOf({ matched, done, skipped, error }: BulkJob, verb: Verb | 'undo'): OperationOutcome {
  const untouched = matched - done - skipped
  const text =
    verb === 'undo'
      ? t('domains.undoneOf', { what: tn('domains.rows', done) })
      : tn(`domains.done.${verb}`, done)
  const parts = [
    ...(untouched > 0 ? [tn('bulk.stopped', untouched)] : []),
    ...(error === null ? [] : [error.replace(/[^.?!]$/, '$&.')]),
    ...(skipped > 0 ? [tn('bulk.others', skipped)] : []),
  ]
  return parts.length === 0 ? { text } : { text: `${text}. ${parts.join(' ')}`, isError: true }
}

const sameSet = (one: BulkSet | null, other: BulkSet): boolean =>
  one !== null && sorted(one) === sorted(other)

const sorted = (set: BulkSet): string =>
  JSON.stringify(Object.entries(set).toSorted(([one], [other]) => (one < other ? -1 : 1)))
