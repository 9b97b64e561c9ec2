import { callApi } from '../../api/client.ts'
import { createLimiter } from '../../base/concurrency-limiter.ts'
import { recordFilters, type Filters } from '../filters/filters.ts'
import { filterError } from '../filters/filter-errors.ts'
import type { Stats } from '../filters/use-stats.ts'
import { filtersOfView, type SavedView } from './saved-views.ts'

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

/** What changed in a view since it was last open. */
export function filtersSinceVisit(view: SavedView): Filters {
  const filters = recordFilters(filtersOfView(view))
  const { modified_from: from = '' } = filters
  return { ...filters, modified_from: from > view.visited ? from : view.visited }
}
