import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ask } from '../api/client.ts'
import type { Operations } from '../api/schema.ts'
import { recordFilters, type Filters } from '../domains/filters.ts'
import { filterFault } from './filter-fault.ts'

export type Stats = Operations['GET /api/v1/domainwatch/stats']['answer']

/** Counting a million records is work for the service: what was counted serves for a while. */
const FRESH_MS = 30_000

/** Counts of what the filters match, their order and number aside. */
export function useStats(filters: Filters, isWanted = true) {
  const query = recordFilters(filters)
  return useQuery({
    queryKey: ['domains', 'stats', query],
    // What the service would refuse is not asked for.
    enabled: isWanted && filterFault(query) === undefined,
    staleTime: FRESH_MS,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => (await ask('GET /api/v1/domainwatch/stats', { query, signal })).data,
  })
}
