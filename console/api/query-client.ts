import { QueryClient, useQuery, type QueryKey, type UseQueryOptions } from '@tanstack/react-query'
import { ApiError, callApi, ConnectionError, type Answer, type CallOptions } from './client.ts'
import type { Operations } from '../../clients/js/schema.ts'
import { connection } from './connection.ts'
import { session } from './session.ts'

const MAX_BUSY_RETRIES = 4

/** Client errors (4xx) are not retried. */
export const isClientError = (error: unknown): boolean =>
  error instanceof ApiError && error.status >= 400 && error.status < 500

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      networkMode: 'always',
      refetchOnWindowFocus: false,
      // An overloaded service is retried here; after a lost connection, the probe refetches.
      retry: (failures, error) =>
        error instanceof ApiError && error.status === 503 && failures < MAX_BUSY_RETRIES,
      // Components of a screen share queries, so an error is reported once.
      retryOnMount: ({ state }) => !isClientError(state.error),
    },
  },
})

connection.subscribe(() => {
  if (connection.get() !== 'reached') return
  const isLost = ({ state }: { state: { error: unknown } }) => state.error instanceof ConnectionError
  void queryClient.refetchQueries({ type: 'active', predicate: isLost })
})

// Another key may be allowed what this one was denied.
session.subscribe(() => {
  void queryClient.resetQueries({ predicate: ({ state }) => state.error !== null })
})

interface ReadOptions<N extends keyof Operations, T> extends Omit<
  UseQueryOptions<Answer<N>, Error, T>,
  'queryKey' | 'queryFn'
> {
  readonly query?: CallOptions<N>['query']
}

/** Reads an operation of the service, whose answer is cached under a key. */
export function useApi<N extends keyof Operations, T = Answer<N>>(
  queryKey: QueryKey,
  name: N,
  { query, ...options }: ReadOptions<N, T> = {},
) {
  return useQuery<Answer<N>, Error, T>({
    ...options,
    queryKey,
    queryFn: async ({ signal }) => (await callApi(name, { query, signal })).data,
  })
}
