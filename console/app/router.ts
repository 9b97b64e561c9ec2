import { HOME_PATH } from '../api/server.ts'
import { createStore, useStore } from './store.ts'

export interface Place {
  /** Within the console: `dominios`, `imagenes`; empty at home. */
  readonly path: string
  readonly query: URLSearchParams
}

/** Browsers limit how often the URL may be replaced, so updates while typing are debounced. */
const REPLACE_AFTER_MS = 250

const place = createStore<Place>(read())
let pending: ReturnType<typeof setTimeout> | undefined

addEventListener('popstate', () => place.set(read()))

function read(): Place {
  const path = location.pathname.startsWith(HOME_PATH) ? location.pathname.slice(HOME_PATH.length) : ''
  return { path: path.replace(/\/+$/, ''), query: new URLSearchParams(location.search) }
}

export const usePlace = (): Place => useStore(place)

export function hrefOf(path: string, query?: URLSearchParams): string {
  const text = query?.toString() ?? ''
  return `${HOME_PATH}${path}${text === '' ? '' : `?${text}`}`
}

/** Navigates to another screen and adds a history entry. */
export function go(path: string, query = new URLSearchParams()): void {
  settle()
  // A second click on the same link must not add a history entry.
  const href = hrefOf(path, query)
  if (href !== `${location.pathname}${location.search}`) history.pushState(null, '', href)
  place.set({ path, query })
}

/** Updates the state of the current screen in the URL, without a history entry. */
export function replaceQuery(query: URLSearchParams): void {
  place.set({ path: place.get().path, query })
  clearTimeout(pending)
  pending = setTimeout(settle, REPLACE_AFTER_MS)
}

function settle(): void {
  if (pending === undefined) return
  clearTimeout(pending)
  pending = undefined
  const { path, query } = place.get()
  history.replaceState(null, '', hrefOf(path, query))
}

/** Returns the query with some parameters set, or removed (undefined). */
export function changed(
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
