import { TIME_ZONE, SERVICE, serverNow } from '../api/server.ts'
import { createStore } from '../app/store.ts'
import { filtersOf, queryOf, type Filters } from '../domains/filters.ts'

/** Filters under a name. */
export interface SavedView {
  readonly name: string
  /** As in the address. */
  readonly query: string
  /** When it was last open, in the service's time: `YYYY-MM-DD HH:MM:SS`. */
  readonly visited: string
}

/** A side bar that is still read at a glance; each costs two counts. */
export const MAX_VIEWS = 20
export const MAX_NAME = 40

/** Two services may share an origin, and two people a browser. */
const placeOf = (account: string): string => `catalejo.views ${SERVICE.pathname} ${account}`

interface Kept {
  readonly account: string | undefined
  readonly views: readonly SavedView[]
}

export const savedViews = createStore<Kept>({ account: undefined, views: [] })

/** Shows the views of an account; of none while nobody is signed in. */
export function openViews(account: string | undefined): void {
  if (savedViews.get().account === account) return
  savedViews.set({ account, views: account === undefined ? [] : load(placeOf(account)) })
}

export const addressOf = (filters: Filters): string => queryOf(filters).toString()
export const filtersOfView = ({ query }: SavedView): Filters => filtersOf(new URLSearchParams(query))

/** Keeps a view under a name, in place of one with the same filters. Returns false if there are too many. */
export function saveView(name: string, filters: Filters): boolean {
  const query = addressOf(filters)
  const others = savedViews.get().views.filter((view) => view.query !== query)
  if (others.length >= MAX_VIEWS) return false
  keep([...others, { name: name.slice(0, MAX_NAME), query, visited: localNow() }])
  return true
}

export function removeView(query: string): void {
  keep(savedViews.get().views.filter((view) => view.query !== query))
}

/** Notes that a view is open: what is new counts from now on. */
export function visitView(query: string): void {
  const { views } = savedViews.get()
  if (views.some((view) => view.query === query))
    keep(views.map((view) => (view.query === query ? { ...view, visited: localNow() } : view)))
}

function keep(views: readonly SavedView[]): void {
  const { account } = savedViews.get()
  if (account === undefined) return
  savedViews.set({ account, views })
  localStorage.setItem(placeOf(account), JSON.stringify(views))
}

function load(place: string): readonly SavedView[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(place) ?? '[]')
    return Array.isArray(found) ? found.flatMap(readView).slice(0, MAX_VIEWS) : []
  } catch {
    return []
  }
}

function readView(found: unknown): SavedView[] {
  if (typeof found !== 'object' || found === null) return []
  const { name, query, visited }: Partial<Record<keyof SavedView, unknown>> = found
  return typeof name === 'string' && typeof query === 'string' && typeof visited === 'string'
    ? [{ name, query, visited }]
    : []
}

const localNow = (): string =>
  new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium', timeZone: TIME_ZONE }).format(
    serverNow(),
  )
