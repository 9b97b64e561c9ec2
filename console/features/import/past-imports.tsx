import { useQuery } from '@tanstack/react-query'
import { keyFor } from '../../api/session.ts'
import { Button, Tag } from '../../design/elements.tsx'
import { QueryError } from '../../design/notice.tsx'
import { showError } from '../../design/toasts.tsx'
import { WideTable } from '../../design/wide-table.tsx'
import { dateTime, t, count, duration, tn, type TextKey } from '../../i18n/index.ts'
import { isOpen, listImports, stopImport, type ImportJob } from '../work/jobs.ts'
import { FORMATS } from './imports.ts'
import { recordErrorMessage } from '../../api/error-message.ts'

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

const SUMS = [
  ['new', 'import.new'],
  ['changed', 'import.changed'],
  ['unchanged', 'import.same'],
] as const satisfies readonly (readonly [keyof ImportJob, TextKey])[]

/** What an import changed so far, or would change, and why not more. */
export function Outcome({ job }: { job: ImportJob }) {
  const { state, waiting, error, refused, errors, skipped, complete, seconds_left: left, percent } = job
  return (
    <div className="stack tight">
      <ul className="row" aria-live="polite">
        {SUMS.map(([field, label]) => (
          <li key={field} className={`effect ${field} figures`}>
            <strong>{count(job[field])}</strong> {t(label)}
          </li>
        ))}
        {refused > 0 && <li className="tag danger">{tn('import.bad', refused)}</li>}
      </ul>
      {isOpen(job) && (
        <>
          <progress max={100} value={percent} aria-label={job.name ?? t('import.list')} />
          <p className="muted figures">
            {waiting === 1
              ? t('import.waits')
              : left === null
                ? t('import.goesOn')
                : t('import.left', { time: duration(left) })}
          </p>
        </>
      )}
      {state === 'stopped' && <p className="muted">{t('import.kept')}</p>}
      {error !== null && <p className="fault-text">{error}</p>}
      {skipped !== null && <p className="muted">{t(`import.skipped.${skipped}`)}</p>}
      {complete === 0 && <p className="muted">{t('import.incomplete')}</p>}
      {errors.length > 0 && (
        <details>
          <summary>{t('import.refused')}</summary>
          <ul className="bad-lines stack tight">
            {errors.map(({ line, msg }) => (
              <li key={line}>
                <span className="muted figures">{t('import.line', { n: line })}</span>{' '}
                <span className="fault-text">{recordErrorMessage({ field: '', msg })}</span>
              </li>
            ))}
          </ul>
          {errors.length < refused && (
            <p className="muted figures">{t('domains.andMore', { n: refused - errors.length })}</p>
          )}
        </details>
      )}
    </div>
  )
}
