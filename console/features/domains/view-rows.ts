import { useEffect, useRef, useState } from 'react'
import type { Filters } from '../filters/filters.ts'
import { PAGE_ROWS, SECTION_ROWS, useRows, type RowPosition, type Rows } from './row-pages.ts'
import { isNumberOrder, reversed, getSort } from './columns.ts'

/** How the rows of a view are paged by cursor, to fetch some of them elsewhere. */
export interface PagingOrder {
  readonly filters: Filters
  readonly start: string | undefined
  /** Returns the position of a shown row in that order. */
  readonly toPosition: (place: RowPosition) => RowPosition
}

export interface ViewRows extends Rows {
  readonly pagingOrder: PagingOrder
  /** Whether it is jumping to the end. */
  readonly isGoingToEnd: boolean
  readonly toStart: () => void
  readonly toEnd: () => void
}

/**
 * Lists without a reverse order: the newest ones have a fixed count, and by deletion, objection or numbers, names
 * without these come last in both directions.
 */
function isOneWay(filters: Filters): boolean {
  const { column } = getSort(filters)
  return (
    filters['last_register'] !== undefined ||
    filters['last_deleted'] !== undefined ||
    (column === 'deleted' && filters['status'] !== '0') ||
    (column === 'objection' && filters['objection'] !== '1') ||
    isNumberOrder(column)
  )
}

/**
 * The rows of a view from either end. Pages are fetched by cursor, so the end of a long list is reached by
 * reversing the order.
 * @param total number of records of the view; undefined until counted
 * @param onEnd called with the index of the last row after a jump to the end
 */
export function useViewRows(
  filters: Filters,
  start: string | undefined,
  total: number | undefined,
  seen: { first: number; last: number },
  onEnd: (index: number) => void,
): ViewRows {
  const identity = JSON.stringify([filters, start])
  const [wanted, setWanted] = useState<string>()
  const [ended, setEnded] = useState<{ identity: string; count: number }>()
  const isFromEnd = ended?.identity === identity
  const isGoingToEnd = wanted === identity
  const count = isFromEnd ? ended.count : 0
  const mirror = (index: number) => count - 1 - index
  // From the nearer end, unless the rows are only the last ones of the view.
  const isAll = start === undefined && count < SECTION_ROWS
  const isMirrored = isFromEnd && !(isAll && seen.first < mirror(seen.last))
  const rows = useRows(
    isMirrored ? reversed(filters) : filters,
    isMirrored ? undefined : start,
    isMirrored ? { first: Math.max(0, mirror(seen.last)), last: mirror(seen.first) + PAGE_ROWS / 2 } : seen,
  )
  const wasMirrored = useRef(false)
  useEffect(() => {
    if (!rows.isStale) wasMirrored.current = isMirrored
  }, [rows.isStale, isMirrored])
  // Rows that were shown before in the other order are at other places now.
  const isElsewhere = rows.isStale && (isFromEnd || wasMirrored.current)
  const inOrder = isMirrored ? (index: number) => rows.at(mirror(index)) : rows.at
  const at = isElsewhere ? () => undefined : inOrder
  const known = rows.total
  useEffect(() => {
    if (!isGoingToEnd) return
    if (isFromEnd || known !== undefined) {
      setWanted(undefined)
      onEnd((isFromEnd ? count : rows.count) - 1)
    } else if (isOneWay(filters)) {
      // The next page is fetched when the last row of this one becomes visible.
      onEnd(rows.count - 1)
    } else if (total !== undefined) {
      setEnded({ identity, count: Math.min(total, SECTION_ROWS) })
    }
  }, [isGoingToEnd, isFromEnd, known, rows.count, total, identity])
  useEffect(() => {
    // Reached the other end, so the number of rows is certain.
    if (isFromEnd && known !== undefined && !rows.isStale && known !== count)
      setEnded({ identity, count: Math.min(known, SECTION_ROWS) })
  }, [isFromEnd, known, rows.isStale, count, identity])
  const pagingOrder: PagingOrder = {
    filters: isMirrored ? reversed(filters) : filters,
    start: isMirrored ? undefined : start,
    toPosition: (place) => (isMirrored ? { ...place, index: mirror(place.index) } : place),
  }
  const shared = {
    pagingOrder,
    isGoingToEnd,
    toStart: () => {
      setWanted(undefined)
      setEnded(undefined)
    },
    toEnd: () => setWanted(identity),
  }
  if (!isFromEnd) return { ...rows, ...shared, at }
  return { ...rows, ...shared, at, count, total: count, nextSection: undefined, isStale: false }
}
