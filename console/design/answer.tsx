import type { ReactNode } from 'react'
import { ConnectionLost } from '../api/client.ts'
import { t } from '../i18n/index.ts'
import { Fault } from './parts.tsx'

/** The placeholder of loading content. */
export function Loading() {
  return (
    <div className="notice" role="status" aria-label={t('app.loading')}>
      <span className="spinner" />
    </div>
  )
}

/** The placeholder of a small part. */
export const Waiting = () => <span className="spinner" role="status" aria-label={t('app.loading')} />

interface Asked<T> {
  readonly data: T | undefined
  readonly error: Error | null
  readonly refetch: () => Promise<unknown>
}

/**
 * The error of a query, if there is one to show. During an outage, what was fetched before stays as it is, and with it
 * what the user is typing: the bar reports the outage, and the query is repeated after it.
 */
export function QueryFault({ of: { data, error, refetch } }: { of: Asked<unknown> }) {
  if (error === null || (error instanceof ConnectionLost && data !== undefined)) return null
  return <Fault error={error} onRetry={() => void refetch()} />
}

/** Renders a query: loading, failed, or its data. Data stays visible if a later fetch fails. */
export function Answer<T>({ of, children }: { of: Asked<T>; children: (data: T) => ReactNode }) {
  const { data, error } = of
  return (
    <>
      <QueryFault of={of} />
      {data === undefined && error === null && <Loading />}
      {data !== undefined && children(data)}
    </>
  )
}
