import { CONSOLE_PATH } from './server.ts'
import { takesLetters } from './shortcuts.ts'
import { createStore, useStore } from './store.ts'

export interface Route {
  /** Within the console: `dominios`, `imagenes`; empty at home. */
  readonly path: string
  readonly query: URLSearchParams
}

/** Browsers limit how often the URL may be replaced, so updates while typing are debounced. */
const REPLACE_AFTER_MS = 250

const route = createStore<Route>(read())
let pending: ReturnType<typeof setTimeout> | undefined

/** The field whose text made the current history entry. */
let typedIn: EventTarget | undefined

addEventListener('popstate', () => {
  typedIn = undefined
  route.set(read())
})

function read(): Route {
  const path = location.pathname.startsWith(CONSOLE_PATH) ? location.pathname.slice(CONSOLE_PATH.length) : ''
  return { path: path.replace(/\/+$/, ''), query: new URLSearchParams(location.search) }
}

export const useRoute = (): Route => useStore(route)

export function toHref(path: string, query?: URLSearchParams): string {
  const text = query?.toString() ?? ''
  return `${CONSOLE_PATH}${path}${text === '' ? '' : `?${text}`}`
}

/** Navigates to another screen and adds a history entry. */
export function navigate(path: string, query = new URLSearchParams()): void {
  flush()
  typedIn = undefined
  // A second click on the same link must not add a history entry.
  const href = toHref(path, query)
  if (href !== `${location.pathname}${location.search}`) history.pushState(null, '', href)
  route.set({ path, query })
}

/** Changes the state of the current screen: a history entry of its own, but one for all that is typed in a field. */
export function changeQuery(query: URLSearchParams): void {
  const field = takesLetters(document.activeElement) ? document.activeElement : undefined
  if (field !== undefined && field === typedIn) replaceQuery(query)
  else navigate(route.get().path, query)
  typedIn = field
}

/** Updates the state of the current screen in the URL, without a history entry. */
export function replaceQuery(query: URLSearchParams): void {
  route.set({ path: route.get().path, query })
  clearTimeout(pending)
  pending = setTimeout(flush, REPLACE_AFTER_MS)
}

function flush(): void {
  if (pending === undefined) return
  clearTimeout(pending)
  pending = undefined
  const { path, query } = route.get()
  history.replaceState(null, '', toHref(path, query))
}

/** Returns the query with some parameters set, or removed (undefined). */
export function withParameters(
  query: URLSearchParams,
  changes: Readonly<Record<string, string | undefined>>,
): URLSearchParams {
  const next = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) next.delete(name)
    else next.set(name, value)
  }
  return next
}
