import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useStore } from '../app/store.ts'
import { recordFilters, withFilters, type Filters } from '../domains/filters.ts'
import { patches } from '../domains/overlay.ts'
import { useSettled } from './settled.ts'
import { useStats, type Stats } from './stats.ts'

/** Rows come first, and nobody counts for each letter that is typed. */
const SETTLED_MS = 400
const RECOUNT_MS = 1_500

export interface Choice {
  readonly value: string
  readonly count: number
}

/** How many records there would be with another filter. */
export interface Facets {
  /** All that match; undefined while they are counted anew. */
  readonly total: number | undefined
  /** By a chip's filter; undefined where nobody can say. */
  readonly countOf: (name: string, value: string) => number | undefined
  readonly lengths: readonly Choice[]
  readonly agents: readonly Choice[]
  /** Records of agents beyond those. */
  readonly otherAgents: number
}

const NONE: Filters = {}

/**
 * Counts beside the filters. A filter that is on is left out where its own other values are counted: else they would all
 * be nought.
 */
export function useFacets(filters: Filters): Facets | undefined {
  const settled = useSettled(filters, SETTLED_MS)
  const wanted = settled ?? NONE
  useRecount()
  const all = useStats(wanted, settled !== undefined)
  const ofStatus = useStats(withFilters(wanted, { status: undefined }), wanted['status'] !== undefined)
  const ofLength = useStats(withFilters(wanted, { length: undefined }), wanted['length'] !== undefined)
  const ofAgent = useStats(
    withFilters(wanted, { search: undefined, agent: undefined }),
    wanted['agent'] !== undefined,
  )
  // What picks the newest ones is no filter of counts.
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
    lengths: choicesOf(byLength?.lengths.length.map(String), byLength?.lengths.count),
    agents: choicesOf(byAgent?.agents.agent, byAgent?.agents.count),
    otherAgents: byAgent?.agents.others ?? 0,
  }
}

/** What is marked here counts a moment later; what others do counts when their rows are put in. */
function useRecount(): void {
  const queries = useQueryClient()
  const own = useSettled(useStore(patches), RECOUNT_MS)
  useEffect(() => {
    if (own !== undefined && own.size > 0) void queries.invalidateQueries({ queryKey: ['domains', 'stats'] })
  }, [own, queries])
}

/** The filters that choose records; the order is none of them. */
const countedNames = (filters: Filters) =>
  Object.keys(filters).filter((name) => name !== 'sort' && name !== 'order').length

function choicesOf(values: readonly string[] = [], counts: readonly number[] = []): Choice[] {
  return values.map((value, i) => ({ value, count: counts[i] ?? 0 })).filter(({ count }) => count > 0)
}

/**
 * The filters with an agent. The agent takes the place of the text that is looked for, which goes on as a pattern where there
 * is none yet.
 */
export function withAgent(filters: Filters, agent: string | undefined): Filters {
  if (agent === undefined) return withFilters(filters, { search: undefined, agent: undefined })
  const { search, pattern } = filters
  const isText = search !== undefined && filters['agent'] === undefined
  const kept = isText && pattern === undefined ? { pattern: `*${search.replace(/\.cl\.?$/, '')}*` } : {}
  return withFilters(filters, { ...kept, search: agent, agent: '' })
}
