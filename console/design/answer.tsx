import type { ReactNode } from 'react'
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

interface Asked<T> {
  readonly data: T | undefined
  readonly error: Error | null
  readonly refetch: () => Promise<unknown>
}

/** Renders a query: loading, failed, or its data. Data stays visible if a later fetch fails. */
export function Answer<T>({ of, children }: { of: Asked<T>; children: (data: T) => ReactNode }) {
  const { data, error, refetch } = of
  return (
    <>
      {error !== null && <Fault error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading />}
      {data !== undefined && children(data)}
    </>
  )
}
