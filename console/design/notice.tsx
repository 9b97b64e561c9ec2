import type { ReactNode } from 'react'
import { ApiError, ConnectionError } from '../api/client.ts'
import { errorMessage } from '../api/error-message.ts'
import { isClientError } from '../api/query-client.ts'
import { Button, Icon, type IconName } from './elements.tsx'
import { t } from '../i18n/index.ts'

/** Replaces missing content: nothing yet, nothing found, an error. */
export function Notice(props: { icon: IconName; title: string; text?: string; children?: ReactNode }) {
  return (
    <div className="notice">
      <Icon name={props.icon} />
      <h2>{props.title}</h2>
      {props.text !== undefined && <p>{props.text}</p>}
      {props.children}
    </div>
  )
}

/**
 * An error with a button to try again, or why the request was refused and will be again.
 * @param onRetry undefined if the console refused it
 */
export function ErrorNotice({ error, onRetry }: { error: unknown; onRetry: (() => void) | undefined }) {
  const isTooEarly = error instanceof ApiError && error.status === 429
  if (onRetry === undefined || (isClientError(error) && !isTooEarly))
    return (
      <div role="alert">
        <Notice icon="alert" title={errorMessage(error)} />
      </div>
    )
  const isLost = error instanceof ConnectionError
  return (
    <div role="alert">
      <Notice
        icon="alert"
        title={t(isLost ? 'app.lostTitle' : 'app.failed')}
        text={isLost ? t('app.lost') : errorMessage(error)}
      >
        <Button label={t('app.retry')} onClick={onRetry} />
      </Notice>
    </div>
  )
}

/** The placeholder of loading content. */
export function Loading() {
  return (
    <div className="notice" role="status" aria-label={t('app.loading')}>
      <span className="spinner" />
    </div>
  )
}

/** The placeholder of a small part. */
export const Spinner = () => <span className="spinner" role="status" aria-label={t('app.loading')} />

/** The placeholder of a list with this many rows. */
export const Bones = ({ rows }: { rows: number }) => (
  <div className="bones" role="status" aria-label={t('app.loading')}>
    {Array.from({ length: rows }, (_, i) => (
      <div key={i} className="bone" style={{ width: `${30 + ((i * 37) % 45)}%` }} />
    ))}
  </div>
)

interface Query<T> {
  readonly data: T | undefined
  readonly error: Error | null
  readonly refetch: () => Promise<unknown>
}

/**
 * The error of a query, if there is one to show. During an outage, what was fetched before stays as it is, and with it
 * what the user is typing: the bar reports the outage, and the query is repeated after it.
 */
export function QueryError({ of: { data, error, refetch } }: { of: Query<unknown> }) {
  if (error === null || (error instanceof ConnectionError && data !== undefined)) return null
  return <ErrorNotice error={error} onRetry={() => void refetch()} />
}

/** Renders a query: loading, failed, or its data. Data stays visible if a later fetch fails. */
export function QueryResult<T>({ of, children }: { of: Query<T>; children: (data: T) => ReactNode }) {
  const { data, error } = of
  return (
    <>
      <QueryError of={of} />
      {data === undefined && error === null && <Loading />}
      {data !== undefined && children(data)}
    </>
  )
}
