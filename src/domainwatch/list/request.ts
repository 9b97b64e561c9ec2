import { choice, integer, type Values } from '../../http/parameters.ts'
import type { ListCursor } from './cursor.ts'
import { filterParameters, readFilters, type Filters } from '../filters.ts'

export const MAX_PAGE = 1_024

/** Which records are listed, and in which order. */
export const listParameters = {
  ...filterParameters,
  last_register: integer('The most recently registered', 1, MAX_PAGE),
  last_deleted: integer('The most recently deleted', 1, MAX_PAGE),
  sort: choice('Order by date', ['asc', 'desc']),
}

export interface ListRequest {
  readonly filters: Filters
  readonly lastRegister?: number | undefined
  readonly lastDeleted?: number | undefined
  readonly ascending: boolean
  readonly limit?: number | undefined
  readonly cursor?: ListCursor | undefined
}

/** @throws HttpError 400 for `agent` without `search` */
export function listRequest(values: Values<typeof listParameters>): ListRequest {
  return {
    filters: readFilters(values),
    lastRegister: values.last_register,
    lastDeleted: values.last_deleted,
    ascending: values.sort === 'asc',
  }
}
