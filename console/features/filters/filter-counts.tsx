import { keepPreviousData, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { isClientError, useApi } from '../../api/query-client.ts'
import type { Operations } from '../../../clients/js/schema.ts'
import { useDebounced, useStore } from '../../base/store.ts'
import { patches } from '../domains/optimistic-updates.ts'
import { filterError } from './filter-errors.ts'
import { type Filters, toFilters, queryOf, recordFilters, withFilters } from './filters.ts'
import { changeQuery, useRoute, withParameters } from '../../base/router.ts'
import { Select } from '../../design/field.tsx'
import { t, type TextKey } from '../../i18n/index.ts'
import { trimmed } from './day-buckets.ts'
import '../../i18n/texts/stats.ts'

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
  return useApi(['domains', 'stats', query], 'GET /api/v1/domainwatch/stats', {
    query,
    // Invalid filters are not requested, and what was refused is not requested again by the next component.
    enabled: ({ state }) => isWanted && filterError(query) === undefined && !isClientError(state.error),
    staleTime: FRESH_MS,
    placeholderData: keepPreviousData,
  })
}

/** Returns the filters of a URL: the same object until one changes, to avoid renders. */
export function useFilters(query: URLSearchParams): Filters {
  // Not the joined values: an absent flag and a set one, which is empty, would be equal.
  const text = queryOf(toFilters(query)).toString()
  return useMemo(() => toFilters(new URLSearchParams(text)), [text])
}

/** Spans of days that end today, by their names in the address. The longest is that of the API. */
const RANGES = { '90': 90, '365': 365, todo: 3_660 } as const
type Range = keyof typeof RANGES
const LABELS: Readonly<Record<Range, TextKey>> = {
  '90': 'stats.range90',
  '365': 'stats.range365',
  todo: 'stats.rangeAll',
}
const NAMES = ['90', '365', 'todo'] as const
const PLACE = 'dias'

const isDated = (filters: Filters): boolean => filters['from'] !== undefined || filters['to'] !== undefined

/**
 * Counts of what the filters match, for the days that someone chose, or else for those where the data are: the last 90 if one was
 * registered then, otherwise all. Filters by days decide the span themselves.
 */
export function useStatsInRange(filters: Filters, isWanted = true) {
  const { query } = useRoute()
  const chosen = NAMES.find((name) => name === query.get(PLACE))
  const recent = useStats(filters, isWanted)
  const isOld = recent.data?.days.registered.every((n) => n === 0) === true
  const range: Range | undefined = isDated(filters) ? undefined : (chosen ?? (isOld ? 'todo' : '90'))
  const isLonger = range !== undefined && range !== '90'
  const longer = useStats({ ...filters, days: String(RANGES[range ?? '90']) }, isWanted && isLonger)
  const stats = isLonger ? longer : recent
  return { stats, range }
}

/** Leaves out the days before the first and after the last that has any. */
export function daysInRange({ days }: Stats, range: Range | undefined): Stats['days'] {
  return range === 'todo' ? trimmed(days) : days
}

/** Chooses the days that charts show; part of the address. Absent while filters by days decide that. */
export function RangePicker({ range }: { range: Range | undefined }) {
  const { query } = useRoute()
  if (range === undefined) return null
  return (
    <Select
      className="input range"
      aria-label={t('stats.range')}
      value={range}
      options={NAMES}
      textOf={(name) => t(LABELS[name])}
      onChange={(name) => changeQuery(withParameters(query, { [PLACE]: name }))}
    />
  )
}

/** The address of filters on a screen with a range, which stays. */
export const keepingRange = (query: URLSearchParams, next: URLSearchParams): URLSearchParams =>
  withParameters(next, { [PLACE]: query.get(PLACE) ?? undefined })
