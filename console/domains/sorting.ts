import { withFilters, type Filters } from './filters.ts'

/** What the list can be sorted by, as the API calls it. */
const SORT_COLUMNS = ['registered', 'deleted', 'modified', 'name', 'length'] as const
export type SortColumn = (typeof SORT_COLUMNS)[number]

export interface Sorting {
  readonly column: SortColumn
  readonly isAscending: boolean
}

/** Texts and numbers begin with the first, times with the newest. */
const BEGINS_ASCENDING: ReadonlySet<SortColumn> = new Set(['name', 'length'])

const usualOrder = (filters: Filters): SortColumn =>
  filters['last_deleted'] === undefined ? 'registered' : 'deleted'

export const sortOf = (filters: Filters): Sorting => ({
  column: SORT_COLUMNS.find((one) => one === filters['order']) ?? usualOrder(filters),
  isAscending: filters['sort'] === 'asc',
})

/** The filters sorted by a column; by the column that they are sorted by already, the other way round. */
export function sortedBy(filters: Filters, column: SortColumn): Filters {
  const now = sortOf(filters)
  const isAscending = now.column === column ? !now.isAscending : BEGINS_ASCENDING.has(column)
  return withFilters(filters, {
    order: column === usualOrder(filters) ? undefined : column,
    sort: isAscending ? 'asc' : undefined,
  })
}

/** The same rows from the other end. */
export const reversed = (filters: Filters): Filters =>
  withFilters(filters, { sort: sortOf(filters).isAscending ? 'desc' : 'asc' })
