import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './shell/app.tsx'
import { keepFocus } from './base/lost-focus.ts'
import { HAS_PROXY_SIGN_IN } from './base/server.ts'
import { showTheme } from './base/theme.ts'
import { language } from './i18n/index.ts'
import './design/tokens.css'
import './design/base.css'
import './design/controls.css'
import './design/chips.css'
import './design/states.css'
import './design/dialog.css'
import './design/layout.css'
import './design/search-box.css'
import './design/selection.css'
import './shell/shell.css'

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
