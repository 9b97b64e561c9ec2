import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './shell/app.tsx'
import { startProxySession } from './api/proxy-session.ts'
import { keepFocus } from './base/lost-focus.ts'
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
startProxySession()
document.documentElement.lang = language.get()

const root = document.querySelector('#root')
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
}
