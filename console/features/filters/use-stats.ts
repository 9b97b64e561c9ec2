import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { callApi } from '../../api/client.ts'
import { isClientError } from '../../api/query-client.ts'
import type { Operations } from '../../api/schema.ts'
import { recordFilters, type Filters } from './filters.ts'
import { filterError } from './filter-errors.ts'

export type Stats = Operations['GET /api/v1/domainwatch/stats']['answer']

/** Counting a million records is expensive for the service, so counts are cached for a while. */
const FRESH_MS = 30_000

/** Counts of what the filters match, without order and limits. */
export function useStats(filters: Filters, isWanted = true) {
  const query = recordFilters(filters)
  return useQuery<Stats>({
    queryKey: ['domains', 'stats', query],
    // Invalid filters are not requested, and what was refused is not requested again by the next component.
    enabled: ({ state }) => isWanted && filterError(query) === undefined && !isClientError(state.error),
    staleTime: FRESH_MS,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => (await callApi('GET /api/v1/domainwatch/stats', { query, signal })).data,
  })
}
