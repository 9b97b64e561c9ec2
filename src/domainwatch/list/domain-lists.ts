import type { Clock } from '../../lib/clock.ts'
import type { Gate } from '../../lib/gate.ts'
import { finish, TimeSlice, type Hit } from '../../lib/name-index/index.ts'
import type { Tasks } from '../../lib/tasks.ts'
import { accountClient } from '../../lib/client.ts'
import { encodeCursor, type ListCursor, type ListPage } from './cursor.ts'
import { wholeList } from './whole-list.ts'
import type { NameIndex } from './name-index.ts'
import {
  defaultOrder,
  isOfAll,
  isStageOf,
  LIST_ORDERS,
  type Listing,
  type ListOrder,
  type Source,
} from './order.ts'
import { hitsToJson } from './page-json.ts'
import { nameOfHit, RecordOfHit } from './hits.ts'
import { findPage } from './search.ts'
import { choice, integer, type Values } from '../../http/parameters.ts'
import type { ExportedRecord } from '../export.ts'
import type { ContextAt } from '../filter-context.ts'
import { filterParameters, readFilters, type Filters } from '../filters.ts'
import { expiryCutoff, MAX_PAGE_RECORDS } from '../limits.ts'
import { serverParameters } from '../servers/index.ts'

/** Which records are listed, and in which order. */
export const listParameters = {
  ...filterParameters,
  ...serverParameters,
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
function listingOf(request: ListRequest, now: number, contextAt: ContextAt): Listing {
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
    context: contextAt(now),
    first: cursor?.decidedAt === undefined ? undefined : contextAt(cursor.decidedAt),
  }
}

/** What an answer contains before and after the records of a page, by their number. */
export type Frame = (count: number) => { readonly before: Buffer; readonly after: Buffer }

const NOTHING = Buffer.alloc(0)
const NO_FRAME: Frame = () => ({ before: NOTHING, after: NOTHING })

export interface Page {
  /** A JSON array of records, in UTF-8, in its frame. */
  readonly json: Buffer
  readonly count: number
  /** The cursor of the next page; undefined on the last one. */
  readonly next: string | undefined
}

export interface PageNames extends Pick<Page, 'next'> {
  readonly names: readonly string[]
}

/** Answers lists from the index in memory. */
export class DomainLists {
  readonly #clock: Clock
  readonly #nameIndex: Pick<NameIndex, 'current' | 'contextAt'>
  readonly #tasks: Tasks
  readonly #searches: Gate

  constructor(
    clock: Clock,
    nameIndex: Pick<NameIndex, 'current' | 'contextAt'>,
    tasks: Tasks,
    searches: Gate,
  ) {
    this.#clock = clock
    this.#nameIndex = nameIndex
    this.#tasks = tasks
    this.#searches = searches
  }

  /**
   * Returns a page, its records in a frame.
   * @param left returns a signal that ends the search
   */
  async page(
    request: ListRequest,
    frame = NO_FRAME,
    account?: number,
    left?: () => AbortSignal,
  ): Promise<Page> {
    const { items: hits, next } = await this.#find(request, account, left)
    const { before, after } = frame(hits.length)
    return { json: hitsToJson(hits, before, after), count: hits.length, next: next && encodeCursor(next) }
  }

  /** Returns the names of a page instead of its JSON, for answers with more than the index knows. */
  async pageNames(request: ListRequest, account?: number, left?: () => AbortSignal): Promise<PageNames> {
    const { items, next } = await this.#find(request, account, left)
    return { names: items.map(nameOfHit), next: next && encodeCursor(next) }
  }

  /** Returns every match as of the call, in parts, without those that expire meanwhile. */
  async *whole(
    request: ListRequest,
    account: number,
    signal: AbortSignal,
  ): AsyncGenerator<readonly ExportedRecord[]> {
    const { filters } = request
    const segments = await this.#nameIndex.current({ filters, left: () => signal })
    const client = accountClient(account)
    const turn = <T>(work: () => Promise<T>) => this.#searches.run(client, work, signal)
    const options = { tasks: this.#tasks, client, turn, signal }
    const listing = this.#listing({ ...request, limit: undefined })
    for await (const hits of wholeList(segments, listing, options)) {
      const cutoff = expiryCutoff(this.#clock.now())
      yield hits
        .filter(({ segment, position }) => !(segment.discardedAt(position) <= cutoff))
        .map((hit) => new RecordOfHit(hit))
    }
  }

  async #find(
    request: ListRequest,
    account: number | undefined,
    left: (() => AbortSignal) | undefined,
  ): Promise<ListPage<Hit>> {
    const segments = await this.#nameIndex.current({ filters: request.filters, left })
    const slice = new TimeSlice()
    const search = findPage(segments, this.#listing(request), slice)
    const first = search.next()
    if (first.done === true) return first.value
    const signal = left?.()
    return this.#searches.run(accountClient(account), () => finish(search, slice, signal), signal)
  }

  #listing(request: ListRequest): Listing {
    return listingOf(request, this.#clock.now(), this.#nameIndex.contextAt)
  }
}
