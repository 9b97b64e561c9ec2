import { useMemo } from 'react'
import { filtersOf, queryOf, type Filters } from './filters.ts'

/** The filters in an address: the same object until one of them changes, so that what depends on them rests. */
export function useFilters(query: URLSearchParams): Filters {
  // Not the values joined: an absent flag and one that is there without a value would read the same.
  const text = queryOf(filtersOf(query)).toString()
  return useMemo(() => filtersOf(new URLSearchParams(text)), [text])
}
