import { useQueries, type QueryClient, type UseQueryResult } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { MAX_PAGE_RECORDS } from '../../base/constants.ts'
import { callApi, type ApiResult } from '../../api/client.ts'
import { chosenFields, isNumberOrder, reversed, getSort } from './columns.ts'
import { filterError } from '../filters/filter-errors.ts'
import type { Filters } from '../filters/filters.ts'
import { dropIncludedPatches } from './optimistic-updates.ts'
import type { DomainRecord } from './records.ts'

export const PAGE_ROWS = 200
/** Further fields of all rows. */
const ROW_FIELDS = 'seen,seen_by,seen_at,note,tags,words,deleted_at,discarded_at,claimed_by,object_until'
/** Returns the further fields of rows with the columns that are shown now. */
const rowFields = (): string => [ROW_FIELDS, ...chosenFields()].join()
/**
 * Browsers limit the height of an element to about 16.7 million pixels, so a scroller holds one section of the
 * list.
 */
export const SECTION_ROWS = 200_000
/** Pages that are not visible are dropped after a while and fetched again. */
const FRESH_MS = 30_000

export type Page = ApiResult<'GET /api/v1/domainwatch/list'> & { readonly askedAt: number }

/** The known part of a list: the cursor of each page visited so far. */
interface KnownCursors {
  readonly cursors: (string | undefined)[]
  /** Number of rows, once the end was reached. */
  total: number | undefined
}

const MAX_LISTS = 8
const cursorsById = new Map<string, KnownCursors>()

function getKnownCursors(id: string, start: string | undefined): KnownCursors {
  const known = cursorsById.get(id)
  if (known !== undefined) return known
  const walk: KnownCursors = { cursors: [start], total: undefined }
  cursorsById.set(id, walk)
  for (const old of [...cursorsById.keys()].slice(0, -MAX_LISTS)) cursorsById.delete(old)
  return walk
}

/** Forgets the cursors of all lists. */
export function forgetCursors(): void {
  cursorsById.clear()
}

export interface Rows {
  /** Number of rows that can be scrolled to. */
  readonly count: number
  /** Total number of rows, once the end was reached. */
  readonly total: number | undefined
  /** The start of the next section, at the end of this one. */
  readonly nextSection: string | undefined
  /** Undefined while its page is loading. */
  readonly at: (index: number) => DomainRecord | undefined
  readonly isFirst: boolean
  readonly isStale: boolean
  readonly error: Error | null
  readonly retry: () => void
}

/**
 * The rows around the visible ones, in pages. The API pages by cursor, so a page can be fetched only after the
 * previous one.
 */
function useRows(filters: Filters, start: string | undefined, seen: { first: number; last: number }): Rows {
  const id = JSON.stringify([filters, start])
  const walk = getKnownCursors(id, start)
  const known = walk.cursors.length
  const first = Math.min(Math.floor(seen.first / PAGE_ROWS), known - 1)
  const last = Math.min(Math.floor(seen.last / PAGE_ROWS), known - 1)
  const wanted = Array.from({ length: last - first + 1 }, (_, i) => first + i)
  const results = useQueries({
    queries: wanted.map((page) => pageQuery(filters, id, walk, page)),
  })
  const rows = useMemo(() => toRows(walk, first, results), [walk, first, results])
  const before = useRef<Rows>(undefined)
  useEffect(() => {
    for (const { data } of results) {
      if (data !== undefined) dropIncludedPatches(data.data.data[0] ?? [], data.askedAt)
    }
    if (!rows.isFirst && rows.error === null) before.current = rows
  }, [results, rows])
  // The previous rows stay until the new ones arrive, so that nothing flickers while typing.
  const old = before.current
  if (!rows.isFirst || old === undefined) return rows
  return { ...old, isFirst: false, isStale: true, nextSection: undefined }
}

const pageQuery = (filters: Filters, id: string, walk: KnownCursors, page: number) => ({
  // Keyed by cursor: if names are added or removed before, this page starts at another row.
  queryKey: ['domains', 'list', id, page, walk.cursors[page], rowFields()],
  queryFn: async ({ signal }: { signal: AbortSignal }) => {
    const fetched = await fetchPage(filters, walk.cursors[page], signal)
    // Before the page is rendered, which asks for the next one if visible rows are further on.
    noteCursor(walk, page, fetched)
    return fetched
  },
  gcTime: FRESH_MS,
  staleTime: FRESH_MS,
})

/** A row that the user chose: its position and name. */
export interface RowPosition {
  readonly index: number
  readonly name: string
}

/** Maximum requests for a range, for names that moved far. */
const MAX_RANGE_REQUESTS = 3
/** Names that may have been added in between. */
const SPARE_ROWS = 50

/** Returns the records from one row to another, inclusive, also of pages that are not loaded. */
export async function fetchRange(
  queries: QueryClient,
  filters: Filters,
  start: string | undefined,
  from: RowPosition,
  to: RowPosition,
): Promise<readonly DomainRecord[]> {
  const id = JSON.stringify([filters, start])
  const walk = getKnownCursors(id, start)
  const [top, bottom] = from.index <= to.index ? [from, to] : [to, from]
  // If the cursors were dropped, start from the beginning.
  const first = Math.min(Math.floor(top.index / PAGE_ROWS), walk.cursors.length - 1)
  const rows =
    shownRows(queries, filters, id, walk, first, bottom) ??
    (await fetchRows(filters, walk.cursors[first], bottom, bottom.index - first * PAGE_ROWS + 1))
  // Rows may have moved: search for the two names, and use positions only if a name is gone.
  const placeOf = ({ index, name }: RowPosition) => {
    const at = rows.findIndex((record) => record.name === name)
    return at < 0 ? index - first * PAGE_ROWS : at
  }
  const ends = [placeOf(top), placeOf(bottom)]
  return rows.slice(Math.min(...ends), Math.max(...ends) + 1)
}

/** Returns the rows from a page on, if all of them are loaded. */
function shownRows(
  queries: QueryClient,
  filters: Filters,
  id: string,
  walk: KnownCursors,
  first: number,
  bottom: RowPosition,
): readonly DomainRecord[] | undefined {
  const rows: DomainRecord[] = []
  for (let page = first; page <= Math.floor(bottom.index / PAGE_ROWS); page++) {
    const shown = queries.getQueryData<Page>(pageQuery(filters, id, walk, page).queryKey)
    if (shown === undefined) return undefined
    rows.push(...(shown.data.data[0] ?? []))
  }
  return rows
}

async function fetchRows(
  filters: Filters,
  start: string | undefined,
  bottom: RowPosition,
  count: number,
): Promise<readonly DomainRecord[]> {
  const rows: DomainRecord[] = []
  let cursor = start
  for (let i = 0; i < MAX_RANGE_REQUESTS; i++) {
    const limit = Math.min(MAX_PAGE_RECORDS, Math.max(PAGE_ROWS, count - rows.length + SPARE_ROWS))
    const query = { ...filters, limit, fields: rowFields(), cursor }
    const { data, next } = await callApi('GET /api/v1/domainwatch/list', { query })
    rows.push(...(data.data[0] ?? []))
    if (next === undefined || (rows.length >= count && rows.some(({ name }) => name === bottom.name))) break
    cursor = next
  }
  return rows
}

async function fetchPage(filters: Filters, cursor: string | undefined, signal: AbortSignal): Promise<Page> {
  const fault = filterError(filters)
  if (fault !== undefined) throw new Error(fault)
  const query = {
    ...filters,
    fields: rowFields(),
    limit: PAGE_ROWS,
    cursor,
  }
  const askedAt = Date.now()
  return { ...(await callApi('GET /api/v1/domainwatch/list', { query, signal })), askedAt }
}

function noteCursor(walk: KnownCursors, page: number, { data, next }: Page): void {
  if (next !== undefined) walk.cursors[page + 1] = next
  else walk.total = page * PAGE_ROWS + (data.data[0]?.length ?? 0)
}

function toRows(walk: KnownCursors, first: number, results: UseQueryResult<Page>[]): Rows {
  for (const [i, { data }] of results.entries()) {
    // From the query cache, too, because the cursors may have been dropped.
    if (data !== undefined) noteCursor(walk, first + i, data)
  }
  const pages = results.map((result) => result.data?.data.data[0])
  const failed = results.find((result) => result.error !== null)
  return {
    count: Math.min(walk.total ?? (walk.cursors.length - 1) * PAGE_ROWS, SECTION_ROWS),
    total: walk.total,
    nextSection: walk.cursors[SECTION_ROWS / PAGE_ROWS],
    at: (index) => pages[Math.floor(index / PAGE_ROWS) - first]?.[index % PAGE_ROWS],
    isFirst: results.every((result) => result.isPending),
    isStale: false,
    error: failed?.error ?? null,
    retry: () => results.forEach((result) => void result.refetch()),
  }
}

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
