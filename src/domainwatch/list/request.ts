import { choice, integer, type Values } from '../../http/parameters.ts'
import type { ListCursor } from './cursor.ts'
import { filterParameters, readFilters, type Filters } from '../filters.ts'
import { MAX_PAGE_RECORDS } from '../limits.ts'
import { isOfAll, type Source } from './queries.ts'
import { defaultOrder, isStageOf, LIST_ORDERS, type Listing, type ListOrder } from './order.ts'

/** Which records are listed, and in which order. */
export const listParameters = {
  ...filterParameters,
  last_register: integer('The most recently registered', 1, MAX_PAGE_RECORDS),
  last_deleted: integer('The most recently deleted', 1, MAX_PAGE_RECORDS),
  order: choice(
    'What the records are sorted by, ties by name; by default the date of registration',
    LIST_ORDERS,
  ),
  sort: choice('Ascending or descending', ['asc', 'desc']),
}

export interface ListRequest {
  readonly filters: Filters
  readonly lastRegister?: number | undefined
  readonly lastDeleted?: number | undefined
  /** Undefined: by deletion under `last_deleted` alone, else by registration. */
  readonly order?: ListOrder | undefined
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
    order: values.order,
    ascending: values.sort === 'asc',
  }
}

function sourcesOf({ lastRegister, lastDeleted, cursor }: ListRequest): readonly Source[] {
  const sources: Source[] = []
  if (lastRegister !== undefined) {
    sources.push({ kind: 'registered', newest: lastRegister, range: cursor?.registered })
  }
  if (lastDeleted !== undefined)
    sources.push({ kind: 'deleted', newest: lastDeleted, range: cursor?.deleted })
  return sources.length === 0 ? [{ kind: 'all' }] : sources
}

const orderOf = (request: ListRequest): ListOrder => request.order ?? defaultOrder(sourcesOf(request))

/** Whether the cursor of the request is one of a list in its order. */
export function hasOwnCursor(request: ListRequest): boolean {
  const { cursor } = request
  return cursor === undefined || isStageOf(cursor.stage, orderOf(request), sourcesOf(request))
}

/** @param now the present, in milliseconds since 1970: records that have expired by then are not listed */
export function listingOf(request: ListRequest, now: number): Listing {
  const { filters, lastRegister, lastDeleted, ascending, cursor } = request
  const sources = sourcesOf(request)
  // The lists of `last_register` and `last_deleted` come whole unless a limit asks for pages.
  const whole = isOfAll(sources) ? MAX_PAGE_RECORDS : (lastRegister ?? 0) + (lastDeleted ?? 0)
  return {
    sources,
    filters,
    order: orderOf(request),
    ascending,
    after: cursor?.after,
    stage: cursor?.stage,
    limit: request.limit ?? whole,
    now,
  }
}
