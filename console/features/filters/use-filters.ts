import { useMemo } from 'react'
import { filtersOf, queryOf, type Filters } from './filters.ts'

/** Returns the filters of a URL: the same object until one changes, to avoid renders. */
export function useFilters(query: URLSearchParams): Filters {
  // Not the joined values: an absent flag and a set one, which is empty, would be equal.
  const text = queryOf(filtersOf(query)).toString()
  return useMemo(() => filtersOf(new URLSearchParams(text)), [text])
}
