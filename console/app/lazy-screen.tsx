import { useEffect, useState, type ComponentType } from 'react'
import { connection, noteLost } from '../api/connection.ts'
import { Loading } from '../design/answer.tsx'
import { Fault, Notice } from '../design/parts.tsx'
import { t } from '../i18n/index.ts'
import { checkRelease, reloadIfIdle } from './release.ts'

const RETRY_MS = [500, 2_000] as const

/**
 * A screen in its own chunk. Unlike React's `lazy`, a failed download is retried: after an outage automatically,
 * and if the file no longer exists after an upgrade, by reloading the page if no work would be lost.
 */
export function lazyScreen(load: () => Promise<{ default: ComponentType }>): ComponentType {
  let loaded: ComponentType | undefined
  return function LazyScreen() {
    const [View, setView] = useState(() => loaded)
    const [attempt, setAttempt] = useState(0)
    const [state, setState] = useState<'loading' | 'outdated' | 'failed'>('loading')
    const isMissing = View === undefined
    useEffect(() => {
      if (!isMissing) return
      let isLeft = false
      let timer: ReturnType<typeof setTimeout> | undefined
      const tryAgain = () => setAttempt((n) => n + 1)
      async function fetchIt() {
        try {
          const found = await load()
          loaded = found.default
          if (!isLeft) setView(() => found.default)
        } catch {
          const found = await checkRelease()
          if (isLeft) return
          if (found === 'unreachable') noteLost()
          else if (found === 'newer') setState(reloadIfIdle() ? 'loading' : 'outdated')
          else if (attempt < RETRY_MS.length) timer = setTimeout(tryAgain, RETRY_MS[attempt])
          // Some browsers cache a failed module fetch for the lifetime of the page.
          else if (!reloadIfIdle()) setState('failed')
        }
      }
      void fetchIt()
      const unsubscribe = connection.subscribe(() => {
        if (connection.get() === 'reached') tryAgain()
      })
      return () => {
        isLeft = true
        clearTimeout(timer)
        unsubscribe()
      }
    }, [attempt, isMissing])
    if (View !== undefined) return <View />
    if (state === 'loading') return <Loading />
    if (state === 'failed')
      return <Fault error={new Error(t('app.screenFailed'))} onRetry={() => location.reload()} />
    return (
      <Notice icon="alert" title={t('app.newRelease')} text={t('app.newReleaseText')}>
        <button type="button" className="button" onClick={() => location.reload()}>
          {t('app.reload')}
        </button>
      </Notice>
    )
  }
}
