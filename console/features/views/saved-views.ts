import { queryOptions, useQuery } from '@tanstack/react-query'
import { useMemo, useEffect } from 'react'
import { callApi } from '../../api/client.ts'
import { queryClient } from '../../api/query-client.ts'
import { createLimiter } from '../../base/concurrency-limiter.ts'
import { useStore, createStore } from '../../base/store.ts'
import type { Stats } from '../filters/filter-counts.tsx'
import { filterError } from '../filters/filter-errors.ts'
import { type Filters, toFilters, queryOf, recordFilters } from '../filters/filters.ts'
import { browserStorage, onOtherTab } from '../../base/browser-storage.ts'
import { localNow, SERVICE_URL } from '../../base/server.ts'

/** Named filters. */
export interface SavedView {
  readonly id: string
  readonly name: string
  /** As in the URL. */
  readonly query: string
  /** The account that shares it; undefined for the user's own views. */
  readonly sharedBy: string | undefined
  /** Whether the group sees it. */
  readonly isShared: boolean
  /** When it was last opened, in the service's time zone: `YYYY-MM-DD HH:MM:SS`. */
  readonly visited: string
}

const FRESH_MS = 60_000
const RECOUNT_MS = 120_000

const VIEWS = queryOptions({
  queryKey: ['views'],
  staleTime: FRESH_MS,
  refetchInterval: RECOUNT_MS,
  queryFn: async ({ signal }) => {
    const { data } = await callApi('GET /api/v1/domainwatch/views', { signal })
    keepVisits(data.data.map(({ filters }) => filters))
    return data.data
  },
})

const refresh = () => queryClient.invalidateQueries({ queryKey: VIEWS.queryKey })
onVisitElsewhere(() => void refresh())

/** The views of the account, then those that others share, and all records: a view that is always there. */
export function useViews() {
  const { account, visits: known } = useStore(visits)
  const { data } = useQuery({ ...VIEWS, enabled: account !== undefined })
  return useMemo(() => {
    const visited = new Map(known.map((visit) => [visit.query, visit.visited]))
    const first = visited.get('') ?? ''
    const views = (data ?? []).map(({ id, name, filters: query, owner, shared }): SavedView => {
      const sharedBy = owner === account ? undefined : owner
      return { id, name, query, sharedBy, isShared: shared === 1, visited: visited.get(query) ?? first }
    })
    const all: SavedView = {
      id: '',
      name: '',
      query: '',
      sharedBy: undefined,
      isShared: false,
      visited: first,
    }
    const [others, own] = [true, false].map((isOfOther) =>
      views.filter(({ sharedBy }) => (sharedBy !== undefined) === isOfOther),
    )
    return {
      account,
      views: [...(own ?? []), ...(others ?? [])],
      all: account === undefined ? undefined : all,
    }
  }, [account, known, data])
}

/** Opens the views of an account; undefined while it is unknown. */
export function openViews(account: string | undefined, mayWrite: boolean): void {
  openVisits(account)
  if (account !== undefined && mayWrite) void moveViews(account).catch(() => undefined)
}

/** Stores on the service what an earlier console kept in the browser. The next load tries again what fails. */
async function moveViews(account: string): Promise<void> {
  const unmoved = visits.get().visits.filter(({ name }) => name !== undefined)
  if (unmoved.length === 0) return
  const stored = await queryClient.fetchQuery(VIEWS)
  const own = stored.flatMap(({ owner, filters }) => (owner === account ? [filters] : []))
  for (const { name = '', query } of unmoved) {
    if (!own.includes(query))
      await callApi('POST /api/v1/domainwatch/views', { query: { name, filters: query } })
    forgetName(query)
  }
  await refresh()
}

export const viewQuery = (filters: Filters): string => queryOf(filters).toString()
export const filtersOfView = ({ query }: SavedView): Filters => toFilters(new URLSearchParams(query))

/** @param id of the view to change; undefined for a new one @throws ApiError, ConnectionError */
export async function saveView(
  name: string,
  filters: Filters,
  isShared: boolean,
  id?: string,
): Promise<void> {
  const query = {
    name,
    filters: viewQuery(filters),
    shared: isShared ? 1 : 0,
    id,
  }
  await callApi('POST /api/v1/domainwatch/views', { query })
  await refresh()
}

/** @throws ApiError, ConnectionError */
export async function removeView(id: string): Promise<void> {
  await callApi('DELETE /api/v1/domainwatch/views', { query: { id } })
  await refresh()
}

/** Counting is work for the service, and nobody waits for these counts. */
const slots = createLimiter(2)

/** Counts next to a view, refreshed from time to time, and when the page is shown again, but not while it is hidden. */
export const viewCounts = (filters: Filters, isWanted = true) => ({
  queryKey: ['domains', 'stats', 'view', filters],
  enabled: isWanted && filterError(filters) === undefined,
  staleTime: FRESH_MS,
  refetchInterval: RECOUNT_MS,
  refetchOnWindowFocus: true,
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

/** When a view was last open in this browser. */
interface Visit {
  /** The view's filters, as in the URL; empty for all records. */
  readonly query: string
  /** In the service's time zone: `YYYY-MM-DD HH:MM:SS`. */
  readonly visited: string
  /** Name of a view that an earlier console kept here, until the service has it. */
  readonly name?: string
}

interface Kept {
  readonly account: string | undefined
  readonly visits: readonly Visit[]
}

/** Services may share an origin, and users a browser. */
const placeOf = (account: string): string => `catalejo.views ${SERVICE_URL.pathname} ${account}`

const visits = createStore<Kept>({ account: undefined, visits: [] })

/** Opens the visits of an account; undefined while it is unknown. */
function openVisits(account: string | undefined): void {
  if (visits.get().account === account) return
  visits.set({ account, visits: account === undefined ? [] : (loadVisits(account) ?? []) })
  // What is new counts from the first visit on.
  if (account !== undefined) changeVisits((kept) => [...kept, ...missing(kept, [''])])
}

/** Calls a listener when another tab has saved, opened or removed a view. */
function onVisitElsewhere(listener: () => void): void {
  onOtherTab((name) => {
    const { account } = visits.get()
    if (account === undefined || name !== placeOf(account)) return
    visits.set({ account, visits: loadVisits(account) ?? [] })
    listener()
  })
}

/** Counts what is new in views from now on, unless they have been open before, and forgets all others. */
function keepVisits(queries: readonly string[]): void {
  const known = ['', ...queries]
  changeVisits((kept) => [
    ...kept.filter(({ query, name }) => name !== undefined || known.includes(query)),
    ...missing(kept, known),
  ])
}

function missing(kept: readonly Visit[], queries: readonly string[]): Visit[] {
  const unknown = [...new Set(queries)].filter((query) => !kept.some((visit) => visit.query === query))
  return unknown.map((query) => ({ query, visited: localNow() }))
}

/** Notes that the service has a view that was kept here. */
const forgetName = (moved: string): void =>
  changeVisits((kept) =>
    kept.map(({ query, visited, name }) => ({
      query,
      visited,
      ...(name !== undefined && query !== moved && { name }),
    })),
  )

/** Records that a view was opened, so that its count of new records restarts. */
const visitView = (opened: string): void => visitViews(({ query }) => query === opened)

/** Notes that what is new in every view has been read. */
export const visitAllViews = (): void => visitViews(() => true)

const visitViews = (isMeant: (visit: Visit) => boolean): void =>
  changeVisits((kept) => kept.map((visit) => (isMeant(visit) ? { ...visit, visited: localNow() } : visit)))

/** Changes what is stored, which other tabs change too. */
function changeVisits(edit: (kept: readonly Visit[]) => readonly Visit[]): void {
  const { account, visits: shown } = visits.get()
  if (account === undefined) return
  const edited = edit(loadVisits(account) ?? shown)
  const text = JSON.stringify(edited)
  if (text === JSON.stringify(shown)) return
  visits.set({ account, visits: edited })
  browserStorage.write(placeOf(account), text)
}

/** The stored visits of an account; undefined if there are none, or the browser forbids storage. */
function loadVisits(account: string): readonly Visit[] | undefined {
  try {
    const found: unknown = JSON.parse(browserStorage.read(placeOf(account)) ?? 'null')
    return Array.isArray(found) ? found.flatMap(readVisit) : undefined
  } catch {
    return undefined
  }
}

function readVisit(found: unknown): Visit[] {
  if (typeof found !== 'object' || found === null) return []
  const { name, query, visited }: Partial<Record<keyof Visit, unknown>> = found
  if (typeof query !== 'string' || typeof visited !== 'string') return []
  return [{ query, visited, ...(typeof name === 'string' && query !== '' && { name }) }]
}

/** Notes when the view at this address is open and when it is left. */
export function useVisit(query: string | undefined): void {
  const { account } = useStore(visits)
  useEffect(() => {
    if (query === undefined || account === undefined) return
    visitView(query)
    return () => visitView(query)
  }, [query, account])
}
