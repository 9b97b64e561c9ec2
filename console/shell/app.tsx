import { QueryClientProvider } from '@tanstack/react-query'
import { useEffect } from 'react'
import { connection } from '../api/connection.ts'
import { queryClient } from '../api/query-client.ts'
import { session } from '../api/session.ts'
import { language } from '../i18n/index.ts'
import { Loading } from '../design/notice.tsx'
import { lazyComponent } from '../design/chunk.tsx'
import { checkRelease } from '../base/release.ts'
import { Shell } from './shell.tsx'
import { useStore } from '../base/store.ts'
import { Toasts } from '../design/toasts.tsx'

const SignIn = lazyComponent(() => import('./sign-in.tsx'), <Loading />)

export function App() {
  const keys = useStore(session)
  const spoken = useStore(language)
  useEffect(
    () =>
      // The service may have been upgraded while it was away.
      connection.subscribe(() => {
        if (connection.get() === 'reached') void checkRelease()
      }),
    [],
  )
  const isIn = Object.keys(keys).length > 0
  return (
    <QueryClientProvider client={queryClient}>
      <div key={spoken} className="app">
        {isIn ? <Shell /> : <SignIn />}
      </div>
      <Toasts />
    </QueryClientProvider>
  )
}
