import type { Clock } from '../../lib/clock.ts'
import type { Gate } from '../../lib/gate.ts'
import { finish, TimeSlice } from '../../lib/name-index/index.ts'
import { accountClient } from '../../lib/client.ts'
import type { NameIndex } from './name-index.ts'
import {
  defaultOrder,
  encodeCursor,
  isOfAll,
  isStageOf,
  orderParameter,
  type ListCursor,
  type Listing,
  type ListOrder,
  type ListPage,
  type Source,
} from './order.ts'
import { hitsToJson, nameOfHit, RecordOfHit } from './hits.ts'
import type { Interest } from '../interest/index.ts'
import type { InterestModel, Ranking } from '../tasks/scores.ts'
import { findPage } from './search.ts'
import { choice, integer, type Values } from '../../http/parameters.ts'
import type { ExportedRecord } from '../export.ts'
import type { ContextAt } from '../filtered-record.ts'
import { filterParameters, readFilters, type Filters } from '../filters.ts'
import { expiryCutoff, MAX_PAGE_RECORDS } from '../limits.ts'
import { serverParameters } from '../servers.ts'

/** Which records are listed, and in which order. */
export const listParameters = {
  ...filterParameters,
  ...serverParameters,
  last_register: integer('The most recently registered', 1, MAX_PAGE_RECORDS),
  last_deleted: integer('The most recently deleted', 1, MAX_PAGE_RECORDS),
  order: orderParameter('What the records are sorted by, ties by name; by default the date of registration'),
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

function toSources({ lastRegister, lastDeleted, cursor }: ListRequest): readonly Source[] {
  const sources: Source[] = []
  if (lastRegister !== undefined) {
    sources.push({ kind: 'registered', newest: lastRegister, range: cursor?.registered })
  }
  if (lastDeleted !== undefined)
    sources.push({ kind: 'deleted', newest: lastDeleted, range: cursor?.deleted })
  return sources.length === 0 ? [{ kind: 'all' }] : sources
}

const orderOf = (request: ListRequest): ListOrder => request.order ?? defaultOrder(toSources(request))

/** Whether the cursor of the request is one of a list in its order. */
export function hasOwnCursor(request: ListRequest): boolean {
  const { cursor } = request
  return cursor === undefined || isStageOf(cursor.stage, orderOf(request), toSources(request))
}

/** @param now the present, in milliseconds since 1970: records that have expired by then are not listed */
function getListing(request: ListRequest, now: number, contextAt: ContextAt, ranking?: Ranking): Listing {
  const { filters, lastRegister, lastDeleted, ascending, cursor } = request
  const sources = toSources(request)
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
    ranking,
    first: cursor?.decidedAt === undefined ? undefined : contextAt(cursor.decidedAt),
  }
}

/** What an answer contains before and after the records of a page, by their number. */
export type Frame = (count: number) => { readonly before: Buffer; readonly after: Buffer }

const NOTHING = Buffer.alloc(0)
const NO_FRAME: Frame = () => ({ before: NOTHING, after: NOTHING })

interface Page {
  /** A JSON array of records, in UTF-8, in its frame. */
  readonly json: Buffer
  readonly count: number
  /** The cursor of the next page; undefined on the last one. */
  readonly next: string | undefined
}

interface PageNames extends Pick<Page, 'next'> {
  readonly names: readonly string[]
  /** The model that sorted them. */
  readonly model: InterestModel | undefined
}

type ListIndex = Pick<NameIndex, 'current' | 'contextAt' | 'scores'>

/** Answers lists from the index in memory. */
export class DomainLists {
  readonly #clock: Clock
  readonly #nameIndex: ListIndex
  readonly #interest: Pick<Interest, 'getModel'>
  readonly #searches: Gate

  constructor(clock: Clock, nameIndex: ListIndex, interest: Pick<Interest, 'getModel'>, searches: Gate) {
    this.#clock = clock
    this.#nameIndex = nameIndex
    this.#interest = interest
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
    const { items: hits, next } = (await this.#find(request, account, left)).page
    const { before, after } = frame(hits.length)
    return { json: hitsToJson(hits, before, after), count: hits.length, next: next && encodeCursor(next) }
  }

  /** Returns the names of a page instead of its JSON, for answers with more than the index knows. */
  async pageNames(request: ListRequest, account?: number, left?: () => AbortSignal): Promise<PageNames> {
    const { page, model } = await this.#find(request, account, left)
    const { items, next } = page
    return { names: items.map(nameOfHit), next: next && encodeCursor(next), model }
  }

  /** @throws HttpError 400 if there are too few decisions for the order */
  async assertOrder({ order }: Pick<ListRequest, 'order'>): Promise<void> {
    if (order === 'interest') await this.#interest.getModel()
  }

  /** Returns every match as of the call, in parts, without those that expire meanwhile. */
  async *whole(
    request: ListRequest,
    account: number,
    signal: AbortSignal,
  ): AsyncGenerator<readonly ExportedRecord[]> {
    const { segments, listing } = await this.#open({ ...request, limit: undefined }, () => signal)
    const { registered, deleted } = segments
    const snapshot = {
      registered: registered.map((segment) => segment.snapshot()),
      deleted: deleted.map((segment) => segment.snapshot()),
    }
    let rest: Listing | undefined = { ...listing, limit: isOfAll(listing.sources) ? PAGE : listing.limit }
    while (rest !== undefined) {
      const slice = new TimeSlice()
      const search = findPage(snapshot, rest, slice)
      const find = () => finish(search, slice, signal)
      const page: ListPage = await this.#searches.run(accountClient(account), find, signal)
      for (let from = 0; from < page.items.length; from += PART) {
        const cutoff = expiryCutoff(this.#clock.now())
        yield page.items
          .slice(from, from + PART)
          .filter(({ segment, position }) => !(segment.discardedAt(position) <= cutoff))
          .map((hit) => new RecordOfHit(hit))
      }
      const { next } = page
      rest = next && { ...rest, after: next.after, stage: next.stage }
    }
  }

  async #find(
    request: ListRequest,
    account: number | undefined,
    left: (() => AbortSignal) | undefined,
  ): Promise<{ readonly page: ListPage; readonly model: InterestModel | undefined }> {
    const { segments, listing } = await this.#open(request, left)
    const model = listing.ranking?.model
    const slice = new TimeSlice()
    const search = findPage(segments, listing, slice)
    const first = search.next()
    if (first.done === true) return { page: first.value, model }
    const signal = left?.()
    const rest = () => finish(search, slice, signal)
    return { page: await this.#searches.run(accountClient(account), rest, signal), model }
  }

  /** @throws HttpError 400 for the order by interest before there are enough decisions */
  async #open(request: ListRequest, left: (() => AbortSignal) | undefined) {
    const { filters, cursor } = request
    const model = request.order === 'interest' ? await this.#interest.getModel(cursor?.model) : undefined
    const segments = await this.#nameIndex.current({ filters, model, left })
    const ranking = model && this.#nameIndex.scores.ranking(model, segments.registered)
    const listing = getListing(request, this.#clock.now(), this.#nameIndex.contextAt, ranking)
    return { segments, listing }
  }
}

/** Records of an export at a time: some 2 ms of text. */
const PART = 1_000
/** Records that one search of an export finds. In most orders it visits all matches. */
const PAGE = 5_000
