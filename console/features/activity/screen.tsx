import { useQuery } from '@tanstack/react-query'
import { callApi } from '../../api/client.ts'
import { queryClient } from '../../api/query-client.ts'
import { usePermissions } from '../../api/scope.ts'
import { localTime, serverNow } from '../../base/server.ts'
import { Button, onFirstClick, Time } from '../../design/elements.tsx'
import { Notice, QueryError } from '../../design/notice.tsx'
import { Page, PagedList, usePages, WideTable } from '../../design/page.tsx'
import { t, tn } from '../../i18n/index.ts'
import { undoingJob, toVerb } from '../domains/bulk.ts'
import { DomainName } from '../domains/tags.tsx'
import { differences } from '../domains/history.tsx'
import { toSubject, replaceValues } from '../domains/marks.ts'
import { BULK, type BulkJob, isOpen } from '../work/jobs.ts'
import { runOperation, usePendingSubjects, type OperationSpec } from '../work/operations.ts'
import { untilAnswered } from '../../api/retry.ts'
import type { Operations } from '../../../clients/js/schema.ts'
import { stateText, type Values } from '../domains/changes.ts'
import type { DomainRecord } from '../domains/records.ts'
import '../../i18n/texts/activity.ts'
import '../../i18n/texts/dismissed.ts'
import '../../i18n/texts/sheet.ts'

const QUERY_KEY = ['domains', 'activity']
const DAY_MS = 86_400_000
const PAGE = 200

/** What the account changed in the last day, from which each change can be undone. */
export default function ActivityScreen() {
  const changes = usePages([...QUERY_KEY, 'changes'], (cursor, signal) =>
    callApi('GET /api/v1/domainwatch/activity', { query: { limit: PAGE, cursor }, signal }),
  )
  const jobs = useQuery({
    queryKey: [...QUERY_KEY, 'jobs'],
    queryFn: ({ signal }) => BULK.list(signal),
  })
  return (
    <Page id="activity" title={t('nav.activity')} explained={t('activity.explained')}>
      <QueryError of={jobs} />
      <PagedList of={changes}>
        {(all) => {
          // Older jobs come with the changes of their time.
          const since = (changes.hasNextPage && all.at(-1)?.date) || localTime(serverNow() - DAY_MS)
          return <Entries entries={toEntries(all, jobs.data ?? [], since)} />
        }}
      </PagedList>
    </Page>
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

/** A change, or a bulk change, and whether the account has undone it. */
export type Entry = {
  readonly key: string
  readonly date: string
  readonly isUndone: boolean
} & ({ readonly change: Change } | { readonly job: BulkJob })

/**
 * Returns changes and ended jobs, newest first.
 * @param since the time of the oldest entry, in the time zone of the service
 */
export function toEntries(changes: readonly Change[], jobs: readonly BulkJob[], since: string): Entry[] {
  // An undo that found all records changed since has undone nothing.
  const undone = new Set(jobs.filter((job) => isOpen(job) || job.done > 0).map(({ undo_of }) => undo_of))
  const ended = jobs.filter((job) => job.undo_of === null && !isOpen(job) && job.created_at >= since)
  const ofJobs = ended.map((job): Entry => ({
    key: job.id,
    date: job.created_at,
    isUndone: undone.has(job.id),
    job,
  }))
  // Stable: changes of the same second keep the order of the service.
  return [...withoutUndoing(changes), ...ofJobs].sort((a, b) =>
    a.date < b.date ? 1 : a.date > b.date ? -1 : 0,
  )
}

/** A change that gives back what an earlier one took is shown as a mark of the earlier one. */
function withoutUndoing(changes: readonly Change[]): Entry[] {
  /** Changes that may undo an earlier one, by what such a change did. */
  const undoing = new Map<string, number[]>()
  const hidden = new Set<number>()
  const undone = new Set<number>()
  for (const [i, change] of changes.entries()) {
    const fields = undoableFields(change) ?? []
    const pick = (side: Change['from']) => fields.map((field) => [field, side?.[field]])
    const key = (before: Change['from'], after: Change['from']) =>
      JSON.stringify([change.name, pick(before), pick(after)])
    const by = undoing.get(key(change.from, change.to))?.pop()
    if (by !== undefined) {
      hidden.add(by)
      undone.add(i)
      continue
    }
    const inverse = key(change.to, change.from)
    undoing.set(inverse, [...(undoing.get(inverse) ?? []), i])
  }
  return changes.flatMap((change, i): Entry[] => {
    if (hidden.has(i)) return []
    // Counted from the oldest, it stays the same when newer ones come.
    const key = `${change.name} ${changes.length - i}`
    return [{ key, date: change.date, isUndone: undone.has(i), change }]
  })
}

/** A change of a record by the account. */
type Change = Operations['GET /api/v1/domainwatch/activity']['answer']['data'][number]

/** Fields that `update` sets, by their names in records. */
const SETTABLE = {
  status: 'status',
  reserved: 'reserve',
  revision: 'revision',
  discarded: 'discarded',
  seen: 'seen',
  note: 'note',
  tags: 'tags',
} as const satisfies Readonly<Record<string, keyof Values>>

/** Fields that follow from others. */
const DERIVED = ['date_mod', 'deleted_at', 'discarded_at', 'deleted_after']

type Field = keyof typeof SETTABLE
const isField = (name: string): name is Field => name in SETTABLE

/** Returns the fields that a change set; undefined if `update` cannot give all of them back. */
function undoableFields({ from, to }: Change): readonly Field[] | undefined {
  if (from === null || to === null) return undefined
  const names = Object.keys(to).filter((name) => !DERIVED.includes(name))
  const fields = names.filter(isField)
  return fields.length === names.length && fields.length > 0 ? fields : undefined
}

/** The operation that gives a record back what it had before a change, unless someone has changed that since. */
function undoingChange(change: Change, fields: readonly Field[]): OperationSpec {
  const { name } = change
  const what = `${name}.cl`
  return {
    subjects: [toSubject(name)],
    pending: t('domains.undoing', { what }),
    failed: (reason) => t('domains.undoFailed', { what, reason }),
    async run({ onWait }) {
      await untilAnswered(() => restore(change, fields), onWait)
      return { text: t('domains.undoneOf', { what }) }
    },
  }
}

function restore({ name, from, to }: Change, fields: readonly Field[]): Promise<void> {
  const set: Values = Object.fromEntries(fields.map((field) => [SETTABLE[field], from?.[field]]))
  return replaceValues(name, set, (now) => {
    if (has(now, fields, from)) return 'done'
    return has(now, fields, to) ? 'expected' : { conflict: conflictText(now, fields, to) }
  })
}

const has = (record: DomainRecord, fields: readonly Field[], values: Change['from']): boolean =>
  fields.every((field) => JSON.stringify(record[field]) === JSON.stringify(values?.[field]))

/** What someone has made of it: the note or tags, if these differ, otherwise its state. */
function conflictText(now: DomainRecord, fields: readonly Field[], to: Change['to']): string {
  const text = (['note', 'tags'] as const).find((field) => fields.includes(field) && !has(now, [field], to))
  if (text === undefined) return t('domains.isNow', { state: stateText(now) })
  const value = text === 'note' ? (now.note ?? '') : (now.tags ?? []).join(', ')
  return t('note.changed', { text: value === '' ? '–' : `«${value}»` })
}
