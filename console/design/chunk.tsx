import { useEffect, useState, Component, type ComponentType, type ReactNode } from 'react'
import { ConnectionError } from '../api/client.ts'
import { connection, markDisconnected } from '../api/connection.ts'
import { t } from '../i18n/index.ts'
import { checkRelease, reloadIfIdle } from '../base/unsaved-work.ts'
import { Button } from './elements.tsx'
import { ErrorNotice, Loading, Notice } from './notice.tsx'

const RETRY_MS = [500, 2_000] as const

export interface Chunk<T> {
  readonly load: () => Promise<T>
  loaded: T | undefined
}

/** Code that is fetched when it is needed. */
export function toChunk<T>(load: () => Promise<T>): Chunk<T> {
  return { load, loaded: undefined }
}

/**
 * Fetches a chunk once. Browsers cache failed imports of an address for the lifetime of the page, so a failed one is
 * repeated at another address of the same file.
 */
export async function fetchChunk<T>(chunk: Chunk<T>): Promise<T> {
  try {
    return (chunk.loaded ??= await chunk.load())
  } catch (error) {
    const [address] = /https?:\S+\.js/.exec(String(error)) ?? []
    if (address === undefined) throw error
    // The same file, so the same type.
    const again: T = await import(/* @vite-ignore */ `${address}?again=${Date.now()}`)
    return (chunk.loaded ??= again)
  }
}

/** `outdated` after an upgrade, `failed` after several attempts. */
type State = 'loading' | 'outdated' | 'failed'

/** Fetches a chunk. Unlike React's `lazy`, retries a failed download: after an outage automatically. */
function useChunk<T>(chunk: Chunk<T>): { readonly loaded: T | undefined; readonly state: State } {
  const [loaded, setLoaded] = useState(() => chunk.loaded)
  const [attempt, setAttempt] = useState(0)
  const [state, setState] = useState<State>('loading')
  const isMissing = loaded === undefined
  useEffect(() => {
    if (!isMissing) return
    let isLeft = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const tryAgain = () => setAttempt((n) => n + 1)
    async function fetchIt() {
      try {
        const found = await fetchChunk(chunk)
        if (!isLeft) setLoaded(() => found)
      } catch {
        const found = await checkRelease()
        if (isLeft) return
        if (found === 'unreachable') markDisconnected()
        else if (found === 'newer') setState('outdated')
        else if (attempt < RETRY_MS.length) timer = setTimeout(tryAgain, RETRY_MS[attempt])
        // Some browsers do not say which address failed.
        else setState('failed')
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
  }, [attempt, isMissing, chunk])
  return { loaded, state }
}

/**
 * Fetches a chunk for an action of the user.
 * @throws ConnectionLost, or an error with a message for the user
 */
export async function loadChunk<T>(chunk: Chunk<T>): Promise<T> {
  try {
    return await fetchChunk(chunk)
  } catch (error) {
    const found = await checkRelease()
    if (found !== 'unreachable') throw new Error(t('app.screenFailed'), { cause: error })
    markDisconnected()
    throw new ConnectionError('', { cause: error })
  }
}

export type Load<Props> = () => Promise<{ default: ComponentType<Props> }>

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
