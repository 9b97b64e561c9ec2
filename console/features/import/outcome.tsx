import { recordErrorMessage } from '../../api/error-message.ts'
import { count, duration, t, tn, type TextKey } from '../../i18n/index.ts'
import { isOpen, type ImportJob } from '../work/jobs.ts'

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
