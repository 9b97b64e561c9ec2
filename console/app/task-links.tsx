import { Icon } from '../design/icon.tsx'
import { Link } from '../design/parts.tsx'
import { count, t } from '../i18n/index.ts'
import { tasks } from './background.ts'
import { release } from './release.ts'
import { useStore } from './store.ts'

/** What goes on in the background, each a link to the screen that shows it. */
export function TaskLinks() {
  return (
    <ul className="tasks">
      {useStore(tasks).map(({ id, label, part, state, to }) => (
        <li key={id}>
          <Link to={to} className={state === 'stopped' ? 'task stopped' : 'task'}>
            {state === 'stopped' ? <Icon name="alert" /> : <span className="spinner" aria-hidden="true" />}
            <span className="task-label">{label}</span>
            {part !== undefined && (
              <span className="figures">{t('app.percent', { n: count(Math.floor(part * 100)) })}</span>
            )}
          </Link>
        </li>
      ))}
    </ul>
  )
}

/** Offers the release of the console that the service has now. */
export function NewRelease() {
  const state = useStore(release)
  return (
    <span role="status">
      {state === 'newer' && (
        <button type="button" className="button" onClick={() => location.reload()}>
          {t('app.newRelease')}
          <span className="wide-only">· {t('app.reload')}</span>
        </button>
      )}
    </span>
  )
}
