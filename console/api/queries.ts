import { QueryClient } from '@tanstack/react-query'
import { ApiError, ConnectionLost } from './client.ts'
import { connection } from './connection.ts'
import { session } from './session.ts'

const MAX_BUSY_RETRIES = 4

/** A refusal (4xx) stays one, however often it is asked for. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof ApiError && error.status >= 400 && error.status < 500

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      networkMode: 'always',
      refetchOnWindowFocus: false,
      // A service that is full says so; a lost connection is healed by the probe, which then asks anew.
      retry: (failures, error) =>
        error instanceof ApiError && error.status === 503 && failures < MAX_BUSY_RETRIES,
      // Several parts of a screen ask the same: one refusal serves them all.
      retryOnMount: ({ state }) => !isRefusal(state.error),
    },
  },
})

connection.subscribe(() => {
  if (connection.get() !== 'reached') return
  const isLost = ({ state }: { state: { error: unknown } }) => state.error instanceof ConnectionLost
  void queries.refetchQueries({ type: 'active', predicate: isLost })
})

// What one key was refused, another may get.
session.subscribe(() => {
  queries.removeQueries({ type: 'inactive' })
  void queries.resetQueries({ predicate: ({ state }) => state.error !== null })
})
