import { useEffect } from 'react'
import { callApi } from '../../api/client.ts'
import { browserStorage, onOtherTab } from '../../base/browser-storage.ts'
import { createLimiter } from '../../base/concurrency-limiter.ts'
import { localNow, SERVICE_URL } from '../../base/server.ts'
import { createStore, useStore } from '../../base/store.ts'
import type { Stats } from '../filters/filter-counts.ts'
import { filterError } from '../filters/filter-errors.ts'
import { type Filters, filtersOf, queryOf, recordFilters } from '../filters/filters.ts'

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
  savedViews.set(account === undefined ? NOTHING : (load(account) ?? { ...NOTHING, account }))
  // What is new counts from the first visit on.
  if (account !== undefined && savedViews.get().all === undefined)
    change(() => ({ all: { name: '', query: '', visited: localNow() } }))
}

// Views that were saved or opened in another tab.
onOtherTab((name) => {
  const { account } = savedViews.get()
  if (account !== undefined && name === placeOf(account))
    savedViews.set(load(account) ?? { ...NOTHING, account })
})

export const viewQuery = (filters: Filters): string => queryOf(filters).toString()
export const filtersOfView = ({ query }: SavedView): Filters => filtersOf(new URLSearchParams(query))

/** Saves a view, replacing one with the same filters. */
export function saveView(name: string, filters: Filters): 'saved' | 'too-many' | 'not-kept' {
  const query = viewQuery(filters)
  let isFull = false
  const isKept = change(({ views }) => {
    const others = views.filter((view) => view.query !== query)
    isFull = others.length >= MAX_VIEWS
    const view = { name: name.slice(0, MAX_NAME), query, visited: localNow() }
    return isFull ? {} : { views: [...others, view] }
  })
  return isFull ? 'too-many' : isKept ? 'saved' : 'not-kept'
}

/** Returns false if the browser does not let it be removed. */
export const removeView = (query: string): boolean =>
  change(({ views }) => ({ views: views.filter((view) => view.query !== query) }))

/** Records that a view was opened, so that its count of new records restarts. */
const visitView = (query: string): void => visitViews((view) => view.query === query)

/** Notes that what is new in every view has been read. */
export const visitAllViews = (): void => visitViews(() => true)

function visitViews(isMeant: (view: SavedView) => boolean): void {
  const { views, all } = savedViews.get()
  if (![...views, ...(all === undefined ? [] : [all])].some(isMeant)) return
  const visited = localNow()
  const seen = (view: SavedView) => (isMeant(view) ? { ...view, visited } : view)
  change((kept) => ({ views: kept.views.map(seen), all: kept.all && seen(kept.all) }))
}

/** Changes what is stored, which other tabs change, too. Returns whether the browser kept it. */
function change(changesOf: (kept: Kept) => Partial<Pick<Kept, 'views' | 'all'>>): boolean {
  const { account } = savedViews.get()
  if (account === undefined) return false
  const before = load(account) ?? savedViews.get()
  const kept = { ...before, ...changesOf(before) }
  const { views, all } = kept
  savedViews.set(kept)
  return browserStorage.write(placeOf(account), JSON.stringify(all === undefined ? views : [all, ...views]))
}

/** The stored views of an account; undefined if there are none, or the browser forbids storage. */
function load(account: string): Kept | undefined {
  try {
    const found: unknown = JSON.parse(browserStorage.read(placeOf(account)) ?? 'null')
    if (!Array.isArray(found)) return undefined
    const kept = found.flatMap(readView)
    const views = kept.filter(({ query }) => query !== '').slice(0, MAX_VIEWS)
    return { account, views, all: kept.find(({ query }) => query === '') }
  } catch {
    return undefined
  }
}

function readView(found: unknown): SavedView[] {
  if (typeof found !== 'object' || found === null) return []
  const { name, query, visited }: Partial<Record<keyof SavedView, unknown>> = found
  return typeof name === 'string' && typeof query === 'string' && typeof visited === 'string'
    ? [{ name, query, visited }]
    : []
}

/** Notes when the view at this address is open and when it is left. */
export function useVisit(query: string | undefined): void {
  const { account } = useStore(savedViews)
  useEffect(() => {
    if (query === undefined || account === undefined) return
    visitView(query)
    return () => visitView(query)
  }, [query, account])
}

/** Counting is work for the service, and nobody waits for these counts. */
const slots = createLimiter(2)
const FRESH_MS = 60_000
const RECOUNT_MS = 120_000

/** Counts next to a view, refreshed from time to time, except on hidden pages. */
export const viewCounts = (filters: Filters, isWanted = true) => ({
  queryKey: ['domains', 'stats', 'view', filters],
  enabled: isWanted && filterError(filters) === undefined,
  staleTime: FRESH_MS,
  refetchInterval: RECOUNT_MS,
  queryFn: ({ signal }: { signal: AbortSignal }): Promise<Stats['totals']> =>
    slots.run(async () => {
      const { data } = await callApi('GET /api/v1/domainwatch/stats', { query: filters, signal })
      return data.totals
    }),
})

/** What was added, freed or registered in a view since it was last open. */
export function filtersSinceVisit(view: SavedView): Filters {
  const filters = recordFilters(filtersOfView(view))
  const { status_from: from = '' } = filters
  return { ...filters, status_from: from > view.visited ? from : view.visited }
}
