import { withFilters, type Filters } from './filters.ts'

/** What the list can be sorted by. */
export type SortColumn = 'registered'

export interface Sorting {
  readonly column: SortColumn
  readonly isAscending: boolean
}

export const sortOf = (filters: Filters): Sorting => ({
  column: 'registered',
  isAscending: filters['sort'] === 'asc',
})

/** The filters sorted by a column; by the column that they are sorted by already, the other way round. */
export function sortedBy(filters: Filters, column: SortColumn): Filters {
  const { isAscending } = sortOf(filters)
  return withFilters(filters, { sort: isAscending || column !== 'registered' ? undefined : 'asc' })
}

/** The same rows from the other end. */
export const reversed = (filters: Filters): Filters =>
  withFilters(filters, { sort: sortOf(filters).isAscending ? 'desc' : 'asc' })
