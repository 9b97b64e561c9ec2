import { TIME_ZONE, SERVICE_URL, serverNow } from '../api/server.ts'
import { createStore } from '../app/store.ts'
import { filtersOf, queryOf, type Filters } from '../filters/filters.ts'

/** Named filters. */
export interface SavedView {
  readonly name: string
  /** As in the URL. */
  readonly query: string
  /** When it was last opened, in the service's time zone: `YYYY-MM-DD HH:MM:SS`. */
  readonly visited: string
}

/** Maximum number of views: keeps the side bar short, and each costs two counts. */
export const MAX_VIEWS = 20
export const MAX_NAME = 40

/** Services may share an origin, and users a browser. */
const placeOf = (account: string): string => `catalejo.views ${SERVICE_URL.pathname} ${account}`

interface Kept {
  readonly account: string | undefined
  readonly views: readonly SavedView[]
  /** All records: a view that is always there, with its count of new records. */
  readonly all: SavedView | undefined
}

const NOTHING: Kept = { account: undefined, views: [], all: undefined }

export const savedViews = createStore<Kept>(NOTHING)

/** Switches to the views of an account; undefined after a sign-out. */
export function openViews(account: string | undefined): void {
  if (savedViews.get().account === account) return
  if (account === undefined) {
    savedViews.set(NOTHING)
    return
  }
  const kept = load(placeOf(account))
  const views = kept.filter(({ query }) => query !== '').slice(0, MAX_VIEWS)
  const all = kept.find(({ query }) => query === '')
  savedViews.set({ account, views, all })
  // What is new counts from the first visit on.
  if (all === undefined) keep({ all: { name: '', query: '', visited: localNow() } })
}

export const viewQuery = (filters: Filters): string => queryOf(filters).toString()
export const filtersOfView = ({ query }: SavedView): Filters => filtersOf(new URLSearchParams(query))

/** Saves a view, replacing one with the same filters. Returns false if there are too many. */
export function saveView(name: string, filters: Filters): boolean {
  const query = viewQuery(filters)
  const others = savedViews.get().views.filter((view) => view.query !== query)
  if (others.length >= MAX_VIEWS) return false
  keep({ views: [...others, { name: name.slice(0, MAX_NAME), query, visited: localNow() }] })
  return true
}

export function removeView(query: string): void {
  keep({ views: savedViews.get().views.filter((view) => view.query !== query) })
}

/** Records that a view was opened, so that its count of new records restarts. */
export const visitView = (query: string): void => visitViews((view) => view.query === query)

/** Notes that what is new in every view has been read. */
export const visitAllViews = (): void => visitViews(() => true)

function visitViews(isMeant: (view: SavedView) => boolean): void {
  const { views, all } = savedViews.get()
  if (![...views, ...(all === undefined ? [] : [all])].some(isMeant)) return
  const visited = localNow()
  const seen = (view: SavedView) => (isMeant(view) ? { ...view, visited } : view)
  keep({ views: views.map(seen), all: all && seen(all) })
}

function keep(changes: Partial<Pick<Kept, 'views' | 'all'>>): void {
  const kept = { ...savedViews.get(), ...changes }
  const { account, views, all } = kept
  if (account === undefined) return
  savedViews.set(kept)
  localStorage.setItem(placeOf(account), JSON.stringify(all === undefined ? views : [all, ...views]))
}

function load(place: string): readonly SavedView[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(place) ?? '[]')
    return Array.isArray(found) ? found.flatMap(readView) : []
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
