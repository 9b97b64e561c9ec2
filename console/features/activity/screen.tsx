import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { callApi } from '../../api/client.ts'
import { queryClient } from '../../api/query-client.ts'
import { usePermissions } from '../../api/scope.ts'
import { localTime, serverNow } from '../../base/server.ts'
import { Button, onFirstClick, Time } from '../../design/elements.tsx'
import { MoreButton, Notice, QueryError, QueryResult } from '../../design/notice.tsx'
import { WideTable } from '../../design/wide-table.tsx'
import { t, tn } from '../../i18n/index.ts'
import '../../i18n/texts/activity.ts'
import '../../i18n/texts/dismissed.ts'
import '../../i18n/texts/sheet.ts'
import { undoingJob, toVerb } from '../domains/bulk.ts'
import { DomainName } from '../domains/domain-name.tsx'
import { differences } from '../domains/history.tsx'
import { toSubject } from '../domains/marks.ts'
import { listBulk, type BulkJob } from '../work/jobs.ts'
import { runOperation, usePendingSubjects, type OperationSpec } from '../work/operations.ts'
import { toEntries, type Entry } from './entries.ts'
import { undoableFields, undoingChange, type Change } from './undo.ts'

const QUERY_KEY = ['domains', 'activity']
const DAY_MS = 86_400_000
const PAGE = 200

/** What the account changed in the last day, from which each change can be undone. */
export default function ActivityScreen() {
  const changes = useInfiniteQuery({
    queryKey: [...QUERY_KEY, 'changes'],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      callApi('GET /api/v1/domainwatch/activity', {
        query: { limit: PAGE, cursor },
        signal,
      }),
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
  })
  const jobs = useQuery({
    queryKey: [...QUERY_KEY, 'jobs'],
    queryFn: ({ signal }) => listBulk(undefined, signal),
  })
  return (
    <div className="page">
      <header>
        <h1 id="activity">{t('nav.activity')}</h1>
      </header>
      <p className="muted">{t('activity.explained')}</p>
      <QueryError of={jobs} />
      <QueryResult of={changes}>
        {({ pages }) => {
          const all = pages.flatMap((page) => page.data.data)
          // Older jobs come with the changes of their time.
          const since = (changes.hasNextPage && all.at(-1)?.date) || localTime(serverNow() - DAY_MS)
          return <Entries entries={toEntries(all, jobs.data ?? [], since)} />
        }}
      </QueryResult>
      <MoreButton of={changes} />
    </div>
  )
}

function Entries({ entries }: { entries: readonly Entry[] }) {
  if (entries.length === 0) return <Notice icon="clock" title={t('activity.none')} />
  return (
    <WideTable
      labelledBy="activity"
      heads={[t('app.name'), t('activity.what'), t('app.when')]}
      actions={t('app.undo')}
    >
      {entries.map((entry) => (
        <tr key={entry.key}>
          {'job' in entry ? <JobCells job={entry.job} /> : <ChangeCells change={entry.change} />}
          <td>
            <Time at={entry.date} />
          </td>
          <td>
            <Undo entry={entry} />
          </td>
        </tr>
      ))}
    </WideTable>
  )
}

function ChangeCells({ change: { name, kind, from, to } }: { change: Change }) {
  return (
    <>
      <th scope="row">
        <DomainName name={name} />
      </th>
      <td>
        {kind !== 'changed' && <strong>{t(`history.${kind}`)} </strong>}
        {(to === null ? [] : differences(from, to)).map(({ text }) => (
          <div key={text} className="difference">
            {text}
          </div>
        ))}
      </td>
    </>
  )
}

function JobCells({ job: { done, set } }: { job: BulkJob }) {
  return (
    <>
      <th scope="row">{tn('domains.rows', done)}</th>
      <td>{set !== null && tn(`domains.done.${toVerb(set)}`, done)}</td>
    </>
  )
}

function Undo({ entry }: { entry: Entry }) {
  const isLocked = !usePermissions()('writeDomains')
  const pending = usePendingSubjects()
  const undo = toUndo(entry)
  if (entry.isUndone) return <span className="muted">{t('domains.undone')}</span>
  if (undo === undefined) return null
  const { subject, about, spec } = undo
  return (
    <Button
      look="quiet"
      icon="undo"
      label={t('app.undo')}
      about={about}
      disabled={isLocked}
      isBusy={pending.has(subject)}
      onClick={onFirstClick(() => {
        if (pending.has(subject)) return
        const handle = runOperation(spec())
        void handle?.settled.then(() => queryClient.invalidateQueries({ queryKey: QUERY_KEY }))
      })}
    />
  )
}

interface UndoButton {
  readonly subject: string
  readonly about: string
  readonly spec: () => OperationSpec
}

/** Undefined if it cannot be undone. */
function toUndo(entry: Entry): UndoButton | undefined {
  if ('job' in entry) {
    const { id, done } = entry.job
    const subject = `job:${id}`
    const spec = () => undoingJob(() => id, done, subject)
    return done === 0 ? undefined : { subject, about: tn('domains.rows', done), spec }
  }
  const { change } = entry
  const fields = undoableFields(change)
  return (
    fields && {
      subject: toSubject(change.name),
      about: `${change.name}.cl`,
      spec: () => undoingChange(change, fields),
    }
  )
}
