import { useQueries, type QueryClient, type UseQueryResult } from '@tanstack/react-query'
import { useEffect, useMemo, useRef } from 'react'
import { ask, type Answered } from '../api/client.ts'
import { whenKeyLeaves } from '../api/session.ts'
import { filterFault } from '../facets/filter-fault.ts'
import type { Filters } from './filters.ts'
import { settlePatches } from './overlay.ts'
import type { DomainRecord } from './records.ts'

export const PAGE_ROWS = 200
/** What rows show besides the usual fields. */
const ROW_FIELDS = 'seen,seen_by,seen_at,note,tags,words,deleted_at,claimed_by'
/** A browser stops growing an element at about 16.7 million pixels: a scroller holds a stretch of the list. */
export const STRETCH_ROWS = 200_000
/** Pages that are out of sight are forgotten after a while and asked for again. */
const FORGET_MS = 30_000

type Page = Answered<'GET /api/v1/domainwatch/list'> & { readonly askedAt: number }

/** What is known of a list, as far as somebody walked it: the cursor that each page starts at. */
interface Walk {
  readonly cursors: (string | undefined)[]
  /** Rows, once the end was seen. */
  total: number | undefined
}

const MAX_WALKS = 8
const walks = new Map<string, Walk>()

function walkOf(id: string, start: string | undefined): Walk {
  const known = walks.get(id)
  if (known !== undefined) return known
  const walk: Walk = { cursors: [start], total: undefined }
  walks.set(id, walk)
  for (const old of [...walks.keys()].slice(0, -MAX_WALKS)) walks.delete(old)
  return walk
}

/** From here on every list is walked anew. */
export function forgetWalks(): void {
  walks.clear()
}

whenKeyLeaves(forgetWalks)

export interface Rows {
  /** Rows that can be scrolled to now. */
  readonly count: number
  /** All rows of the list, once its end was seen. */
  readonly total: number | undefined
  /** Where the next stretch of the list starts, when this one is at its end. */
  readonly nextStretch: string | undefined
  /** Undefined while its page is on its way. */
  readonly at: (index: number) => DomainRecord | undefined
  readonly isFirst: boolean
  readonly isStale: boolean
  readonly error: Error | null
  readonly retry: () => void
}

/**
 * The rows around what is in sight, in pages: the API's pages are walked by cursor, so a page can be asked for once the one
 * before it was seen.
 */
export function useRows(
  filters: Filters,
  start: string | undefined,
  seen: { first: number; last: number },
): Rows {
  const id = JSON.stringify([filters, start])
  const walk = walkOf(id, start)
  const known = walk.cursors.length
  const first = Math.min(Math.floor(seen.first / PAGE_ROWS), known - 1)
  const last = Math.min(Math.floor(seen.last / PAGE_ROWS), known - 1)
  const wanted = Array.from({ length: last - first + 1 }, (_, i) => first + i)
  const results = useQueries({
    queries: wanted.map((page) => pageQuery(filters, id, walk, page)),
  })
  const rows = useMemo(() => rowsOf(walk, first, results), [walk, first, results])
  const before = useRef<Rows>(undefined)
  useEffect(() => {
    for (const { data } of results) {
      if (data !== undefined) settlePatches(data.data.data[0] ?? [], data.askedAt)
    }
    if (!rows.isFirst && rows.error === null) before.current = rows
  }, [results, rows])
  // The rows of the search before stay until the new ones are there, so nothing flickers while somebody types.
  const old = before.current
  if (!rows.isFirst || old === undefined) return rows
  return { ...old, isFirst: false, isStale: true, nextStretch: undefined }
}

const pageQuery = (filters: Filters, id: string, walk: Walk, page: number) => ({
  // With its cursor: when names come or leave on the page before, this one begins at another row.
  queryKey: ['domains', 'list', id, page, walk.cursors[page]],
  queryFn: ({ signal }: { signal: AbortSignal }) => fetchPage(filters, walk.cursors[page], signal),
  gcTime: FORGET_MS,
  staleTime: FORGET_MS,
})

/** A row that somebody pointed at: where it stood, and what stood there. */
export interface RowPlace {
  readonly index: number
  readonly name: string
}

/** Requests that a range may take, for names that moved far. */
const MAX_RANGE_REQUESTS = 3
const MAX_PAGE_ROWS = 1_024
/** Names that may have come in between since the rows were shown. */
const SPARE_ROWS = 50

/** The records from one row to another, both included, those of pages that are not loaded too. */
export async function fetchRange(
  queries: QueryClient,
  filters: Filters,
  start: string | undefined,
  from: RowPlace,
  to: RowPlace,
): Promise<readonly DomainRecord[]> {
  const id = JSON.stringify([filters, start])
  const walk = walkOf(id, start)
  const [top, bottom] = from.index <= to.index ? [from, to] : [to, from]
  // Cursors may have been forgotten since the rows were seen: then from the beginning.
  const first = Math.min(Math.floor(top.index / PAGE_ROWS), walk.cursors.length - 1)
  const rows =
    shownRows(queries, filters, id, walk, first, bottom) ??
    (await fetchRows(filters, walk.cursors[first], bottom, bottom.index - first * PAGE_ROWS + 1))
  // Names that came or left meanwhile moved the rows: the two names count, and places only if a name is gone.
  const placeOf = ({ index, name }: RowPlace) => {
    const at = rows.findIndex((record) => record.name === name)
    return at < 0 ? index - first * PAGE_ROWS : at
  }
  const ends = [placeOf(top), placeOf(bottom)]
  return rows.slice(Math.min(...ends), Math.max(...ends) + 1)
}

/** The rows from a page on, if all of them are loaded: what is shown is what is meant. */
function shownRows(
  queries: QueryClient,
  filters: Filters,
  id: string,
  walk: Walk,
  first: number,
  bottom: RowPlace,
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
  bottom: RowPlace,
  count: number,
): Promise<readonly DomainRecord[]> {
  const rows: DomainRecord[] = []
  let cursor = start
  for (let i = 0; i < MAX_RANGE_REQUESTS; i++) {
    const limit = Math.min(MAX_PAGE_ROWS, Math.max(PAGE_ROWS, count - rows.length + SPARE_ROWS))
    const query = { ...filters, limit, fields: ROW_FIELDS, ...(cursor === undefined ? {} : { cursor }) }
    const { data, next } = await ask('GET /api/v1/domainwatch/list', { query })
    rows.push(...(data.data[0] ?? []))
    if (next === undefined || (rows.length >= count && rows.some(({ name }) => name === bottom.name))) break
    cursor = next
  }
  return rows
}

async function fetchPage(filters: Filters, cursor: string | undefined, signal: AbortSignal): Promise<Page> {
  const fault = filterFault(filters)
  if (fault !== undefined) throw new Error(fault)
  const query = {
    ...filters,
    fields: ROW_FIELDS,
    limit: PAGE_ROWS,
    ...(cursor === undefined ? {} : { cursor }),
  }
  const askedAt = Date.now()
  return { ...(await ask('GET /api/v1/domainwatch/list', { query, signal })), askedAt }
}

function learn(walk: Walk, page: number, { data, next }: Page): void {
  if (next !== undefined) walk.cursors[page + 1] = next
  else walk.total = page * PAGE_ROWS + (data.data[0]?.length ?? 0)
}

function rowsOf(walk: Walk, first: number, results: UseQueryResult<Page>[]): Rows {
  for (const [i, { data }] of results.entries()) {
    // From what was kept, too: the walk itself may have been forgotten meanwhile.
    if (data !== undefined) learn(walk, first + i, data)
  }
  const pages = results.map((result) => result.data?.data.data[0])
  const failed = results.find((result) => result.error !== null)
  return {
    count: Math.min(walk.total ?? (walk.cursors.length - 1) * PAGE_ROWS, STRETCH_ROWS),
    total: walk.total,
    nextStretch: walk.cursors[STRETCH_ROWS / PAGE_ROWS],
    at: (index) => pages[Math.floor(index / PAGE_ROWS) - first]?.[index % PAGE_ROWS],
    isFirst: results.every((result) => result.isPending),
    isStale: false,
    error: failed?.error ?? null,
    retry: () => results.forEach((result) => void result.refetch()),
  }
}
