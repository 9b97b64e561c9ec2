import { isSameOwner, useOwner } from '../api/scope.ts'
import { Button, IconButton, Icon, Link, Menu } from '../design/elements.tsx'
import { count, t } from '../i18n/index.ts'
import { tasks, type Task } from '../features/work/background-tasks.ts'
import { release } from '../base/release.ts'
import { useStore } from '../base/store.ts'

/** Above this number, tasks are collected in a menu. */
const MAX_IN_BAR = 2

/** Background tasks, each linking to its screen. */
export function TaskLinks() {
  const user = useOwner('domainwatch')
  const all = useStore(tasks).filter((task) => !('author' in task) || isSameOwner(task.author, user))
  const links = all.map((task) => (
    <li key={task.id} className="task-item">
      <TaskLink task={task} />
      {task.stop !== undefined && (
        <IconButton icon="close" label={t('app.stopTask', { task: task.label })} onClick={task.stop} />
      )}
    </li>
  ))
  if (all.length <= MAX_IN_BAR) return <ul className="tasks">{links}</ul>
  return (
    <Menu label={t('app.tasks', { n: all.length })} icon="clock" isNamed className="button quiet">
      <ul className="task-list">{links}</ul>
    </Menu>
  )
}

function TaskLink({ task: { label, progress, state, to } }: { task: Task }) {
  return (
    <Link to={to} className={state === 'stopped' ? 'task stopped' : 'task'}>
      {state === 'stopped' ? <Icon name="alert" /> : <span className="spinner" aria-hidden="true" />}
      <span className="task-label ellipsis">{label}</span>
      {progress !== undefined && (
        <>
          <span className="figures">{t('app.percent', { n: count(Math.floor(progress * 100)) })}</span>
          <span className="task-part" style={{ width: `${Math.min(1, progress) * 100}%` }} />
        </>
      )}
    </Link>
  )
}

/** Offers to load the new release of the console. */
export function NewRelease() {
  const state = useStore(release)
  return (
    <span role="status">
      {state === 'newer' && (
        <Button onClick={() => location.reload()}>
          {t('app.newRelease')}
          <span className="wide-only">· {t('app.reload')}</span>
        </Button>
      )}
    </span>
  )
}
