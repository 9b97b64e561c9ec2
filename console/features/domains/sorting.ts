import { LIST_ORDERS } from '../../base/constants.ts'
import { withFilters, type Filters } from '../filters/filters.ts'

/** Orders of the list, as named by the API. */
export type SortColumn = (typeof LIST_ORDERS)[number]

export interface Sorting {
  readonly column: SortColumn
  readonly isAscending: boolean
}

/** Texts and numbers start ascending, times descending. */
const BEGINS_ASCENDING: ReadonlySet<SortColumn> = new Set(['name', 'length'])

const usualOrder = (filters: Filters): SortColumn =>
  filters['last_deleted'] === undefined ? 'registered' : 'deleted'

export const sortOf = (filters: Filters): Sorting => ({
  column: LIST_ORDERS.find((one) => one === filters['order']) ?? usualOrder(filters),
  isAscending: filters['sort'] === 'asc',
})

/** Returns the filters sorted by a column; reverses the order if they are sorted by it already. */
export function sortedBy(filters: Filters, column: SortColumn): Filters {
  const now = sortOf(filters)
  const isAscending = now.column === column ? !now.isAscending : BEGINS_ASCENDING.has(column)
  return withFilters(filters, {
    order: column === usualOrder(filters) ? undefined : column,
    sort: isAscending ? 'asc' : undefined,
  })
}

/** Returns the filters in the reverse order. */
export const reversed = (filters: Filters): Filters =>
  withFilters(filters, { sort: sortOf(filters).isAscending ? 'desc' : 'asc' })
