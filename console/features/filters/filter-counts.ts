import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { callApi } from '../../api/client.ts'
import { isClientError } from '../../api/query-client.ts'
import type { Operations } from '../../api/schema.ts'
import { useDebounced } from '../../base/hooks.ts'
import { useStore } from '../../base/store.ts'
import { patches } from '../domains/optimistic-updates.ts'
import { filterError } from './filter-errors.ts'
import { type Filters, toFilters, queryOf, recordFilters, withFilters } from './filters.ts'

/** Delay of counts: rows come first, and typing does not cause a count per letter. */
const SETTLED_MS = 400
const RECOUNT_MS = 1_500

export interface ValueCount {
  readonly value: string
  readonly count: number
}

/** Counts of records with another value of a filter. */
export interface FilterCounts {
  /** Total matches; undefined while counting. */
  readonly total: number | undefined
  /** By the chip's filter; undefined if unknown. */
  readonly countOf: (name: string, value: string) => number | undefined
  readonly lengths: readonly ValueCount[]
  readonly agents: readonly ValueCount[]
  /** Records of all other agents. */
  readonly otherAgents: number
}

const NONE: Filters = {}

/**
 * Counts next to the filters. The other values of an active filter are counted without it; otherwise they would all
 * be 0.
 */
export function useFilterCounts(filters: Filters): FilterCounts | undefined {
  const settled = useDebounced(filters, SETTLED_MS)
  const wanted = settled ?? NONE
  useRecount()
  const all = useStats(wanted, settled !== undefined)
  const ofStatus = useStats(withFilters(wanted, { status: undefined }), wanted['status'] !== undefined)
  const ofLength = useStats(withFilters(wanted, { length: undefined }), wanted['length'] !== undefined)
  const ofAgent = useStats(
    withFilters(wanted, { search: undefined, agent: undefined }),
    wanted['agent'] !== undefined,
  )
  // Counts do not accept the filters for the newest.
  if (all.data === undefined || Object.keys(recordFilters(filters)).length < countedNames(filters))
    return undefined
  const pick = (name: string, other: Stats | undefined) => (wanted[name] === undefined ? all.data : other)
  const [byStatus, byLength, byAgent] = [
    pick('status', ofStatus.data),
    pick('length', ofLength.data),
    pick('agent', ofAgent.data),
  ]
  const { totals } = all.data
  return {
    total: settled === filters && !all.isPlaceholderData ? totals.records : undefined,
    countOf(name, value) {
      if (name === 'status') return value === '1' ? byStatus?.totals.bought : byStatus?.totals.deleted
      if (wanted[name] !== undefined) return totals.records
      if (name === 'rev') return totals.revision
      if (name === 'dis') return totals.discarded
      return name === 'reserve' ? totals.reserved : undefined
    },
    lengths: toChoices(byLength?.lengths.length.map(String), byLength?.lengths.count),
    agents: toChoices(byAgent?.agents.agent, byAgent?.agents.count),
    otherAgents: byAgent?.agents.others ?? 0,
  }
}

/** Own marks are counted after a delay, changes of others when their rows are shown. */
function useRecount(): void {
  const queries = useQueryClient()
  const own = useDebounced(useStore(patches), RECOUNT_MS)
  useEffect(() => {
    if (own !== undefined && own.size > 0) void queries.invalidateQueries({ queryKey: ['domains', 'stats'] })
  }, [own, queries])
}

/** The filters without the order. */
const countedNames = (filters: Filters) =>
  Object.keys(filters).filter((name) => name !== 'sort' && name !== 'order').length

function toChoices(values: readonly string[] = [], counts: readonly number[] = []): ValueCount[] {
  return values.map((value, i) => ({ value, count: counts[i] ?? 0 })).filter(({ count }) => count > 0)
}

/** Adds an agent to the filters. It replaces the search text, which becomes a pattern unless there is one already. */
export function withAgent(filters: Filters, agent: string | undefined): Filters {
  if (agent === undefined) return withFilters(filters, { search: undefined, agent: undefined })
  const { search, pattern } = filters
  const isText = search !== undefined && filters['agent'] === undefined
  const kept = isText && pattern === undefined ? { pattern: `*${search.replace(/\.cl\.?$/, '')}*` } : {}
  return withFilters(filters, { ...kept, search: agent, agent: '' })
}

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

/** Returns the filters of a URL: the same object until one changes, to avoid renders. */
export function useFilters(query: URLSearchParams): Filters {
  // Not the joined values: an absent flag and a set one, which is empty, would be equal.
  const text = queryOf(toFilters(query)).toString()
  return useMemo(() => toFilters(new URLSearchParams(text)), [text])
}
