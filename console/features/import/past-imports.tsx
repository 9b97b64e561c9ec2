import { useQuery } from '@tanstack/react-query'
import { keyFor } from '../../api/session.ts'
import { Button, Tag } from '../../design/elements.tsx'
import { QueryError } from '../../design/notice.tsx'
import { showError } from '../../design/toasts.tsx'
import { WideTable } from '../../design/wide-table.tsx'
import { dateTime, t } from '../../i18n/index.ts'
import { isOpen, listImports, stopImport, type ImportJob } from '../work/jobs.ts'
import { FORMATS } from './imports.ts'
import { Outcome } from './outcome.tsx'

const ASK_MS = 1_000

/** The imports of the account, newest first, refreshed while one runs. */
export const useImports = () =>
  useQuery({
    queryKey: ['imports'],
    queryFn: ({ signal }) => listImports(undefined, signal),
    refetchInterval: ({ state }) => (state.data?.some(isOpen) === true ? ASK_MS : false),
  })

/** The imports of the last month, each with what it did; those that only counted are left out. */
export function PastImports() {
  const query = useImports()
  const all = (query.data ?? []).filter(({ dry_run: isDry }) => isDry === 0)
  return (
    <>
      <QueryError of={query} />
      {all.length > 0 && (
        <section className="stack past-imports">
          <h2 id="past-imports">{t('import.past')}</h2>
          <WideTable
            labelledBy="past-imports"
            heads={[t('import.file'), t('app.when'), t('import.outcome'), t('domains.state')]}
          >
            {all.map((job) => (
              <tr key={job.id}>
                <th scope="row">
                  {job.name ?? t('import.list')}
                  <div className="muted">{job.source ?? formatText(job)}</div>
                </th>
                <td>{dateTime(job.created_at)}</td>
                <td>
                  <Outcome job={job} />
                </td>
                <td>
                  <State job={job} />
                </td>
              </tr>
            ))}
          </WideTable>
        </section>
      )}
    </>
  )
}

const formatText = ({ format }: ImportJob): string => {
  const key = Object.entries(FORMATS).find(([name]) => name === format)?.[1]
  return key === undefined ? '' : t(key)
}

function State({ job }: { job: ImportJob }) {
  const { id, state } = job
  if (!isOpen(job)) {
    const look = state === 'done' ? 'free' : 'danger'
    return (
      <Tag icon={state === 'done' ? 'check' : 'alert'} look={look} label={t(`import.state.${getEnd(job)}`)} />
    )
  }
  const stop = () => void stopImport(id, keyFor('domainwatch')).catch(showError)
  return (
    <div className="row">
      <Tag icon="clock" label={t('import.state.running')} />
      <Button label={t('import.stop')} onClick={stop} />
    </div>
  )
}

const getEnd = ({ state }: ImportJob) =>
  state === 'done' ? 'done' : state === 'failed' ? 'failed' : 'stopped'
