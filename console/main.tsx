import { QueryClientProvider } from '@tanstack/react-query'
import { useEffect, StrictMode } from 'react'
import { connection } from './api/connection.ts'
import { queryClient } from './api/query-client.ts'
import { session } from './api/session.ts'
import { language } from './i18n/index.ts'
import { Loading } from './design/notice.tsx'
import { lazyComponent } from './design/chunk.tsx'
import { checkRelease } from './base/unsaved-work.ts'
import { Shell } from './shell/shell.tsx'
import { useStore } from './base/store.ts'
import { Toasts } from './design/toasts.tsx'
import { createRoot } from 'react-dom/client'
import { keepFocus } from './base/lost-focus.ts'
import { HAS_PROXY_SIGN_IN } from './base/server.ts'
import { showTheme } from './base/theme.ts'
import './design/base.css'
import './design/controls.css'
import './design/layout.css'
import './shell/shell.css'

const SignIn = lazyComponent(() => import('./shell/sign-in.tsx'), <Loading />)

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

showTheme()
keepFocus()
// Most services have no such proxy: their pages do not load it.
if (HAS_PROXY_SIGN_IN)
  void import('./api/proxy-session.ts')
    .then(({ startProxySession }) => startProxySession())
    .catch(() => undefined)
document.documentElement.lang = language.get()

const root = document.querySelector('#root')
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
}
