import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ask } from '../api/client.ts'
import { isRefusal } from '../api/queries.ts'
import type { Operations } from '../api/schema.ts'
import { recordFilters, type Filters } from '../domains/filters.ts'
import { filterFault } from './filter-fault.ts'

export type Stats = Operations['GET /api/v1/domainwatch/stats']['answer']

/** Counting a million records is expensive for the service, so counts are cached for a while. */
const FRESH_MS = 30_000

/** Counts of what the filters match, without order and limits. */
export function useStats(filters: Filters, isWanted = true) {
  const query = recordFilters(filters)
  return useQuery<Stats>({
    queryKey: ['domains', 'stats', query],
    // Invalid filters are not requested, and what was refused is not requested again by the next component.
    enabled: ({ state }) => isWanted && filterFault(query) === undefined && !isRefusal(state.error),
    staleTime: FRESH_MS,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => (await ask('GET /api/v1/domainwatch/stats', { query, signal })).data,
  })
}
