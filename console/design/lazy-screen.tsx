import { useEffect, type ComponentType, type ReactNode } from 'react'
import { Button } from './button.tsx'
import { Loading } from './query-result.tsx'
import { ErrorNotice, Notice } from './notice.tsx'
import { t } from '../i18n/index.ts'
import { chunkOf, useChunk } from '../api/chunk.ts'
import { reloadIfIdle } from '../base/release.ts'

type Load<Props> = () => Promise<{ default: ComponentType<Props> }>

/**
 * A screen in its own chunk. If the file no longer exists after an upgrade, the page is reloaded, unless work would
 * be lost.
 */
export function lazyScreen(load: Load<object>): ComponentType {
  const chunk = chunkOf(load)
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
  const chunk = chunkOf(load)
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
