import type { ReactNode } from 'react'
import { t } from '../i18n/index.ts'
import { Fault } from './parts.tsx'

/** Stands where something is on its way. */
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

/** What became of a question: it is on its way, it failed, or what its answer shows. An answer stays when a later one fails. */
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
