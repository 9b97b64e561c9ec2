import { Component, type ComponentType, type ReactNode, useEffect } from 'react'
import { toChunk, useChunk } from '../api/chunk.ts'
import { reloadIfIdle } from '../base/release.ts'
import { Button } from './button.tsx'
import { ErrorNotice, Loading, Notice } from './notice.tsx'
import { t } from '../i18n/index.ts'

type Load<Props> = () => Promise<{ default: ComponentType<Props> }>

/**
 * A screen in its own chunk. If the file no longer exists after an upgrade, the page is reloaded, unless work would
 * be lost.
 */
export function lazyScreen(load: Load<object>): ComponentType {
  const chunk = toChunk(load)
  return function LazyScreen() {
    const { loaded, state } = useChunk(chunk)
    useEffect(() => {
      if (state !== 'loading') reloadIfIdle()
    }, [state])
    return loaded === undefined ? <Missing state={state} /> : <loaded.default />
  }
}

/**
 * A part of a screen in its own chunk.
 * @param placeholder rendered while it is fetched
 */
export function lazyComponent<Props extends object>(
  load: Load<Props>,
  placeholder: ReactNode = null,
): ComponentType<Props> {
  const chunk = toChunk(load)
  return function LazyPart(props: Props) {
    const { loaded, state } = useChunk(chunk)
    if (loaded !== undefined) return <loaded.default {...props} />
    return state === 'loading' ? placeholder : <Missing state={state} />
  }
}

function Missing({ state }: { state: ReturnType<typeof useChunk>['state'] }) {
  if (state === 'loading') return <Loading />
  if (state === 'failed')
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
    // A chunk that an older page requests may no longer exist: only a reload helps.
    return <ErrorNotice error={this.state.error} onRetry={() => location.reload()} />
  }
}
