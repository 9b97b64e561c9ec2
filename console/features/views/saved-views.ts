import { queryOptions, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { callApi } from '../../api/client.ts'
import { queryClient } from '../../api/query-client.ts'
import { createLimiter } from '../../base/concurrency-limiter.ts'
import { useStore } from '../../base/store.ts'
import type { Stats } from '../filters/filter-counts.ts'
import { filterError } from '../filters/filter-errors.ts'
import { type Filters, toFilters, queryOf, recordFilters } from '../filters/filters.ts'
import { forgetName, keepVisits, onVisitElsewhere, openVisits, visits } from './visits.ts'

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

const VIEWS_KEY = ['views']
const refresh = () => queryClient.invalidateQueries({ queryKey: VIEWS_KEY })
onVisitElsewhere(() => void refresh())

const toViews = (account: string) =>
  queryOptions({
    queryKey: [...VIEWS_KEY, account],
    staleTime: FRESH_MS,
    refetchInterval: RECOUNT_MS,
    queryFn: async ({ signal }) => {
      const { data } = await callApi('GET /api/v1/domainwatch/views', { signal })
      keepVisits(
        account,
        data.data.map(({ filters }) => filters),
      )
      return data.data
    },
  })

/** The views of the account, then those that others share, and all records: a view that is always there. */
export function useViews() {
  const { account, visits: known } = useStore(visits)
  const { data } = useQuery({ ...toViews(account ?? ''), enabled: account !== undefined })
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

/** Switches to the views of an account; undefined after a sign-out. */
export function openViews(account: string | undefined, mayWrite: boolean): void {
  openVisits(account)
  if (account !== undefined && mayWrite) void moveViews(account).catch(() => undefined)
}

/** Stores on the service what an earlier console kept in the browser. The next load tries again what fails. */
async function moveViews(account: string): Promise<void> {
  const unmoved = visits.get().visits.filter(({ name }) => name !== undefined)
  if (unmoved.length === 0) return
  const stored = await queryClient.fetchQuery(toViews(account))
  const own = stored.flatMap(({ owner, filters }) => (owner === account ? [filters] : []))
  for (const { name = '', query } of unmoved) {
    if (visits.get().account !== account) return
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
