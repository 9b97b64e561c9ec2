import { Fragment, useEffect, useState } from 'react'
import { connection } from '../api/connection.ts'
import { loadAccesses, useAccounts, usePermissions, useScopes, type Permission } from '../api/scope.ts'
import { rejectedService, session } from '../api/session.ts'
import { Button, IconButton, Icon, Link, Menu } from '../design/elements.tsx'
import { Loading, Spinner } from '../design/notice.tsx'
import { useActions } from '../design/actions.ts'
import { Dialog } from '../design/dialog.tsx'
import { t, tn, count } from '../i18n/index.ts'
import { fetchPalette, Palette } from './palette.tsx'
import { openViews, useViews } from '../features/views/saved-views.ts'
import { ErrorBoundary, lazyComponent } from '../design/chunk.tsx'
import { OneTimeResults } from '../features/work/forms.tsx'
import { isUnsaved, operations } from '../features/work/operations.ts'
import { release, reloadIfIdle } from '../base/unsaved-work.ts'
import { navigate, useRoute } from '../base/router.ts'
import { GROUPS, HomeScreen, SCREENS, type Screen } from './screens.ts'
import { useShortcuts } from '../base/shortcuts.ts'
import { SessionMenu, Logo } from './session-menu.tsx'
import { useStore } from '../base/store.ts'
import { tasks, type Task } from '../features/work/background-tasks.ts'

const KeyForm = lazyComponent(() => import('./key-form.tsx'), <Loading />)
const ShortcutHelp = lazyComponent(() => import('./shortcut-help.tsx'), <Spinner />)
/** Fetched only if there are saved views. */
const SideViews = lazyComponent(() => import('../features/views/sidebar-views.tsx'))

/** What is fetched after the screen: the palette, which opens without waiting then, and the jobs of the account. */
const FETCH_LATER_MS = 1_500

/** The bar, the list of screens and the current screen. */
export function Shell() {
  const { path } = useRoute()
  const keys = useStore(session)
  const [isMenuOpen, setMenuOpen] = useState(false)
  const [dialog, setDialog] = useState<'key' | 'help' | 'palette'>()
  const screen = SCREENS.find((one) => one.path === path.split('/')[0])
  const hasHome = keys.domainwatch !== undefined || keys.imagestore !== undefined
  useEffect(() => {
    // An administrator's key alone opens the administration screens.
    if (path === '' && !hasHome) navigate('claves')
  }, [path, hasHome])
  useEffect(() => {
    setMenuOpen(false)
    setDialog(undefined)
    // Hidden where there is no other screen.
    if (release.get() === 'newer') reloadIfIdle()
  }, [path])
  useEffect(() => loadAccesses(keys), [keys])
  const account = useAccounts()('domainwatch')
  const mayWrite = usePermissions()('writeDomains')
  useEffect(() => openViews(account, mayWrite), [account, mayWrite])
  useEffect(() => {
    if (account === undefined) return
    const left = new AbortController()
    const resume = () =>
      void import('../features/work/jobs.ts')
        .then(({ resumeJobs }) => resumeJobs(left.signal))
        .catch(() => undefined)
    const timer = setTimeout(resume, FETCH_LATER_MS)
    return () => {
      clearTimeout(timer)
      left.abort()
    }
  }, [account])
  const hasViews = useViews().views.length > 0
  useEffect(() => {
    document.title = screen === undefined ? t('app.title') : `${t(screen.title)} · ${t('app.title')}`
  }, [screen])
  useEffect(() => {
    const timer = setTimeout(fetchPalette, FETCH_LATER_MS)
    return () => clearTimeout(timer)
  }, [])
  const close = () => setDialog(undefined)
  useActions(() => [
    {
      id: 'help',
      label: t('app.help'),
      also: t('app.helpAlso'),
      icon: 'note',
      key: '?',
      run: () => setDialog('help'),
    },
  ])
  useShortcuts('help', { '?': () => setDialog('help') })
  useShortcuts('everywhere', {
    'mod+k': (event) => {
      event.preventDefault()
      setDialog('palette')
    },
  })
  return (
    <div className="shell">
      <a className="skip" href="#content" onClick={skip}>
        {t('app.skip')}
      </a>
      <header className="bar">
        <IconButton
          icon="menu"
          label={t('app.menu')}
          className="burger"
          aria-expanded={isMenuOpen}
          onClick={() => setMenuOpen(!isMenuOpen)}
        />
        <span className="brand">
          <Logo />
          <span>Catalejo</span>
        </span>
        <Lost />
        <span className="grow" />
        <TaskLinks />
        <NewRelease />
        <Button
          look="quiet"
          icon="search"
          className="go-to"
          aria-haspopup="dialog"
          aria-keyshortcuts="Control+K Meta+K"
          onClick={() => setDialog('palette')}
        >
          <span className="wide-text">{t('palette.open')}</span>
          <kbd className="wide-only" aria-hidden="true">
            Ctrl K
          </kbd>
        </Button>
        <SessionMenu onAddKey={() => setDialog('key')} />
        <Button look="quiet" onClick={() => setDialog('help')}>
          <span className="wide-text">{t('app.help')}</span>
          <kbd aria-hidden="true">?</kbd>
        </Button>
      </header>
      <nav className={isMenuOpen ? 'side open' : 'side'} aria-label={t('nav.label')}>
        <ul>
          <li>
            <Link to="" className="side-link" current={path === ''}>
              <Icon name="home" />
              {t('nav.home')}
            </Link>
          </li>
        </ul>
        {GROUPS.map(({ service, title, screens }) => (
          <Fragment key={service}>
            <Group title={t(title)} screens={screens} path={path} />
            {service === 'domainwatch' && hasViews && (
              <ErrorBoundary>
                <SideViews />
              </ErrorBoundary>
            )}
          </Fragment>
        ))}
      </nav>
      <main id="content" className="content" tabIndex={-1}>
        <ErrorBoundary key={path}>
          <Content screen={screen} isHome={path === ''} />
        </ErrorBoundary>
      </main>
      <OneTimeResults />
      {dialog === 'help' && <ShortcutHelp onClose={close} />}
      {dialog === 'palette' && <Palette onClose={close} />}
      {dialog === 'key' && (
        <Dialog title={t('app.addKey')} onClose={close}>
          <KeyForm onDone={close} />
        </Dialog>
      )}
    </div>
  )
}

/** Not through the URL, which holds the state of the screen. */
function skip(event: { preventDefault(): void }): void {
  event.preventDefault()
  document.querySelector<HTMLElement>('#content')?.focus()
}

function Group({ title, screens, path }: { title: string; screens: readonly Screen[]; path: string }) {
  return (
    <div className="side-group">
      <h2>{title}</h2>
      <ul>
        {screens.map((screen) => (
          <li key={screen.path}>
            <Link to={screen.path} className="side-link" current={path.split('/')[0] === screen.path}>
              <Icon name={screen.icon} />
              {t(screen.title)}
              {screen.needs !== undefined && <Lock needs={screen.needs} />}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  )
}

function Content({ screen, isHome }: { screen: Screen | undefined; isHome: boolean }) {
  const keys = useStore(session)
  const rejected = useStore(rejectedService)
  if (isHome) return <HomeScreen />
  if (screen === undefined) {
    return (
      <div className="notice">
        <Icon name="search" />
        <h1>{t('app.notFound')}</h1>
        <p>{t('app.notFoundText')}</p>
        <Link to="" className="button">
          {t('nav.home')}
        </Link>
      </div>
    )
  }
  if (keys[screen.service] === undefined) {
    return (
      <div className="need stack">
        <h1>{t('sign.need', { service: t(`service.${screen.service}`) })}</h1>
        <KeyForm rejected={rejected === screen.service ? rejected : undefined} />
      </div>
    )
  }
  return <Permitted screen={screen} />
}

/** The screen, or which key it needs. A read-only key gets a notice in advance. */
function Permitted({ screen }: { screen: Screen }) {
  const { needs, service } = screen
  const scope = useScopes()(service)
  const may = usePermissions()
  if (needs !== undefined && !may(needs)) {
    return (
      <div className="need stack">
        <h1>{t(`scope.need.${needs}`)}</h1>
        <p className="muted">{t('scope.has', { scope: t(`scope.name.${scope}`) })}</p>
        <KeyForm />
      </div>
    )
  }
  return (
    <>
      {scope === 'read' && (
        <p className="callout" role="note">
          <Icon name="lock" /> {t(service === 'imagestore' ? 'scope.readImages' : 'scope.readDomains')}
        </p>
      )}
      <screen.view />
    </>
  )
}

/** Marks a screen that the current key does not open. */
function Lock({ needs }: { needs: Permission }) {
  if (usePermissions()(needs)) return null
  return (
    <>
      <span className="grow" />
      <Icon name="lock" />
      <span className="visually-hidden">{t('scope.locked')}</span>
    </>
  )
}

function Lost() {
  const state = useStore(connection)
  const unsaved = useStore(operations).filter(isUnsaved).length
  return (
    <span className="lost" role="status">
      {state === 'lost' && (
        <span className="tag danger">
          <span className="spinner" />
          {t('app.lost')}
          {unsaved > 0 && ` ${tn('operation.unsaved', unsaved)}.`}
        </span>
      )}
    </span>
  )
}

/** Above this number, tasks are collected in a menu. */
const MAX_IN_BAR = 2

/** Background tasks, each linking to its screen. */
function TaskLinks() {
  const all = useStore(tasks)
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

function TaskLink({ task: { label, progress, to } }: { task: Task }) {
  return (
    <Link to={to} className="task">
      <span className="spinner" aria-hidden="true" />
      <span className="wide-text ellipsis">{label}</span>
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
function NewRelease() {
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
