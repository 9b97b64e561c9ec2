import type { Clock } from '../../lib/clock.ts'
import { Gate } from '../../lib/gate.ts'
import { accountClient } from '../../lib/client.ts'
import type { Database } from '../../storage/database/database.ts'
import type { SqlValue } from '../../storage/database/sql.ts'
import type { NameSplits } from '../words/split-names.ts'
import { encodeCursor, type ListCursor } from './cursor.ts'
import { DatabaseLists } from './database-lists.ts'
import { findPage, findSorted, isLongSearch, nameOfHit, type FoundPage } from './index-page.ts'
import type { NameIndex } from './name-index.ts'
import { type Listing, defaultOrder, isStageOf, LIST_ORDERS, type ListOrder } from './order.ts'
import { hitsToJson, rowsToJson } from './page-json.ts'
import { choice, integer, type Values } from '../../http/parameters.ts'
import { filterParameters, readFilters, type Filters } from '../filters.ts'
import { MAX_PAGE_RECORDS } from '../limits.ts'
import { isOfAll, type Source } from './queries.ts'

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
function listingOf(request: ListRequest, now: number): Listing {
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

/** Searches that visit all matches, some 20 ms with a million records: one at a time, because they share the event loop. */
const SEARCHES = { running: 1, waiting: 256, waitMs: 10_000 }

/** Answers lists: from the index in memory if it is up to date, else from the database. */
export class DomainLists {
  readonly #clock: Clock
  readonly #nameIndex: Pick<NameIndex, 'current'> | undefined
  readonly #stored: DatabaseLists
  readonly #searches = new Gate(SEARCHES)

  /** @param splits decides whether the database can filter by words; by default it can */
  constructor(database: Database, clock: Clock, nameIndex?: Pick<NameIndex, 'current'>, splits?: NameSplits) {
    this.#clock = clock
    this.#nameIndex = nameIndex
    this.#stored = new DatabaseLists(database, clock, splits)
  }

  /**
   * @param account accounts share the database and long searches fairly
   * @param left returns a signal that ends the search. Most searches never need one
   */
  async page(
    request: ListRequest,
    frame = NO_FRAME,
    account?: number,
    left?: () => AbortSignal,
  ): Promise<Page> {
    const listing = this.#listing(request)
    const found = await this.#find(listing, account, left)
    if (found !== undefined) {
      const { items: hits, next } = found
      const { before, after } = frame(hits.length)
      return { json: hitsToJson(hits, before, after), count: hits.length, next: next && encodeCursor(next) }
    }
    const { items: rows, next } = await this.#stored.page(listing, account, left?.())
    const { before, after } = frame(rows.length)
    const json = Buffer.concat([before, Buffer.from(rowsToJson(rows)), after])
    return { json, count: rows.length, next: next && encodeCursor(next) }
  }

  /** Returns the names of a page instead of its JSON, for answers with more than the index knows. */
  async pageNames(request: ListRequest, account?: number, left?: () => AbortSignal): Promise<PageNames> {
    const listing = this.#listing(request)
    const found = await this.#find(listing, account, left)
    if (found !== undefined)
      return { names: found.items.map(nameOfHit), next: found.next && encodeCursor(found.next) }
    const { items: rows, next } = await this.#stored.page(listing, account, left?.())
    return { names: rows.map(([name]) => String(name)), next: next && encodeCursor(next) }
  }

  /** The rows of every match, from the database; see `DatabaseLists.rows`. */
  rows(request: ListRequest, account?: number, signal?: AbortSignal): AsyncGenerator<SqlValue[][]> {
    return this.#stored.rows(this.#listing(request), account, signal)
  }

  /** Undefined if the index is not up to date, or the database answers sooner. */
  async #find(
    listing: Listing,
    account: number | undefined,
    left: (() => AbortSignal) | undefined,
  ): Promise<FoundPage | undefined> {
    const segments = await this.#nameIndex?.current()
    if (segments === undefined || !isLongSearch(listing)) return segments && findPage(segments, listing)
    const search = async () => findSorted((await this.#nameIndex?.current()) ?? segments, listing)
    return this.#searches.run(accountClient(account), search, left?.())
  }

  #listing(request: ListRequest): Listing {
    return listingOf(request, this.#clock.now())
  }
}
