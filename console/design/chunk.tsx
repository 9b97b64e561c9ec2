import { Component, lazy, Suspense, useEffect, type ComponentType, type ReactNode } from 'react'
import { ConnectionError } from '../api/client.ts'
import { markDisconnected } from '../api/connection.ts'
import { withRetries } from '../api/retry.ts'
import { t } from '../i18n/index.ts'
import { useStore } from '../base/store.ts'
import { checkRelease, release, reloadIfIdle } from '../base/unsaved-work.ts'
import { Button } from './elements.tsx'
import { ErrorNotice, Loading, Notice } from './notice.tsx'

/**
 * Fetches code when it is needed. A failed download is repeated once, and after each outage.
 * @throws an error with a message for the user
 */
export const fetchCode = <T,>(load: () => Promise<T>): Promise<T> =>
  withRetries(() =>
    fetchTwice(load).catch(async (error: unknown) => {
      if ((await checkRelease()) !== 'unreachable') throw new Error(t('app.screenFailed'), { cause: error })
      markDisconnected()
      throw new ConnectionError('', { cause: error })
    }),
  )

/** Browsers remember that the import of an address failed, so the second attempt uses another address of the same file. */
async function fetchTwice<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    const [address] = /https?:\S+\.js/.exec(String(error)) ?? []
    if (address === undefined) throw error
    // The same file, so the same type.
    const again: T = await import(/* @vite-ignore */ `${address}?again=${Date.now()}`)
    return again
  }
}

export type Load<Props> = () => Promise<{ default: ComponentType<Props> }>

/**
 * A component in its own chunk.
 * @param placeholder rendered while it is fetched
 */
export function lazyComponent<Props extends object>(
  load: Load<Props>,
  placeholder: ReactNode = null,
): ComponentType<Props> {
  const Part: ComponentType<Props> = lazy(() => fetchCode(load).catch(() => ({ default: Missing })))
  return function LazyPart(props: Props) {
    return (
      <Suspense fallback={placeholder}>
        <Part {...props} />
      </Suspense>
    )
  }
}

/** A screen in its own chunk. */
export const lazyScreen = (load: Load<object>): ComponentType => lazyComponent(load, <Loading />)

/**
 * Takes the place of code that could not be fetched. Only a new page fetches what that code imports again, or finds the code of
 * a newer release, so the page is reloaded unless work would be lost.
 */
function Missing() {
  const isOutdated = useStore(release) === 'newer'
  useEffect(() => void reloadIfIdle(), [])
  if (!isOutdated)
    return <ErrorNotice error={new Error(t('app.screenFailed'))} onRetry={() => location.reload()} />
  return (
    <Notice icon="alert" title={t('app.newRelease')} text={t('app.newReleaseText')}>
      <Button label={t('app.reload')} onClick={() => location.reload()} />
    </Notice>
  )
}

/** Contains the error of a screen, so that the others keep working. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: undefined }

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error }
  }

  override render(): ReactNode {
    if (this.state.error === undefined) return this.props.children
    return <ErrorNotice error={this.state.error} onRetry={() => location.reload()} />
  }
}
