import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { useEffect } from 'react'
import { ApiError, ConnectionLost } from '../api/client.ts'
import { connection } from '../api/connection.ts'
import { session } from '../api/session.ts'
import { language } from '../i18n/index.ts'
import { Shell } from './shell.tsx'
import { SignIn } from './sign-in.tsx'
import { useStore } from './store.ts'
import { Toasts } from './toasts.tsx'

const MAX_BUSY_RETRIES = 4

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      networkMode: 'always',
      refetchOnWindowFocus: false,
      // A service that is full says so; a lost connection is healed by the probe, which then asks anew.
      retry: (failures, error) =>
        error instanceof ApiError && error.status === 503 && failures < MAX_BUSY_RETRIES,
    },
  },
})

export function App() {
  const keys = useStore(session)
  const spoken = useStore(language)
  useEffect(
    () =>
      connection.subscribe(() => {
        if (connection.get() === 'reached') void queries.refetchQueries({ type: 'active', predicate: failed })
      }),
    [],
  )
  const isIn = Object.keys(keys).length > 0
  return (
    <QueryClientProvider client={queries}>
      <div key={spoken} className="app">
        {isIn ? <Shell /> : <SignIn />}
      </div>
      <Toasts />
    </QueryClientProvider>
  )
}

const failed = (query: { state: { error: unknown } }) => query.state.error instanceof ConnectionLost
