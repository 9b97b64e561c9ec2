import type { Clock } from '../../lib/clock.ts'
import type { Gate } from '../../lib/gate.ts'
import {
  finish,
  TimeSlice,
  type Hit,
  allMatches,
  MergedSearch,
  type Segment,
  type Selected,
} from '../../lib/name-index/index.ts'
import { type Tasks, BACKGROUND_TASK_TIMEOUT_MS } from '../../lib/tasks.ts'
import { accountClient, type Client } from '../../lib/client.ts'
import { encodeCursor, type ListCursor, type ListPage } from './cursor.ts'
import type { NameIndex } from './name-index.ts'
import {
  defaultOrder,
  isOfAll,
  isStageOf,
  orderParameter,
  type Listing,
  type ListOrder,
  type Source,
  stagesFrom,
  type Stage,
} from './order.ts'
import { BUILD_COLUMNS } from './index-builder.ts'
import { hitsToJson, nameOfHit, RecordOfHit } from './hits.ts'
import type { Interest } from '../interest/index.ts'
import type { InterestModel } from '../interest/model.ts'
import type { Ranking } from '../interest/scores.ts'
import { findPage, mergedSearch, sortedOrder, stageQuery, type IndexSegments } from './search.ts'
import { choice, integer, type Values } from '../../http/parameters.ts'
import type { ExportedRecord } from '../export.ts'
import type { ContextAt } from '../filtered-record.ts'
import { filterParameters, readFilters, type Filters } from '../filters.ts'
import { expiryCutoff, MAX_PAGE_RECORDS } from '../limits.ts'
import { serverParameters } from '../servers.ts'
import type { Input, Output } from '../tasks/build-columns.ts'

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
  readonly #tasks: Tasks
  readonly #searches: Gate

  constructor(
    clock: Clock,
    nameIndex: ListIndex,
    interest: Pick<Interest, 'getModel'>,
    tasks: Tasks,
    searches: Gate,
  ) {
    this.#clock = clock
    this.#nameIndex = nameIndex
    this.#interest = interest
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
    const client = accountClient(account)
    const turn = <T>(work: () => Promise<T>) => this.#searches.run(client, work, signal)
    const options = { tasks: this.#tasks, client, turn, signal }
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

/** Records at a time: some 2 ms of text. */
const PART = 1_000

interface WholeListOptions {
  readonly tasks: Tasks
  /** Whose task the sorting is. */
  readonly client: Client
  /** Runs work on the event loop in the turn of its client. */
  readonly turn: <T>(work: () => Promise<T>) => Promise<T>
  readonly signal: AbortSignal
}

/** All matches of a list in their order, in parts. Later changes of the segments have no effect. */
async function* wholeList(
  segments: IndexSegments,
  listing: Listing,
  options: WholeListOptions,
): AsyncGenerator<readonly Hit[]> {
  const { signal, turn } = options
  const slice = new TimeSlice()
  if (!isOfAll(listing.sources)) {
    yield (await turn(() => finish(findPage(segments, listing, slice), slice, signal))).items
    return
  }
  const stages = stagesFrom(listing, listing.sources)
  const searches = stages.map((stage) =>
    sortedOrder(stage.name) === undefined ? mergedSearch(segments, listing, stage, slice) : stage,
  )
  for (const search of searches) if (search instanceof MergedSearch) search.freeze()
  for (const search of searches) {
    if (!(search instanceof MergedSearch)) {
      yield* sortedParts(segments, listing, search, options)
      continue
    }
    for (let isMore = true; isMore;) {
      const hits = await turn(() => finish(search.next(PART), slice, signal))
      if (hits.length > 0) yield hits
      isMore = hits.length === PART
    }
  }
}

/** In an order that segments are not sorted by, another thread sorts all matches. */
async function* sortedParts(
  segments: IndexSegments,
  { filters, context, ascending, ranking }: Listing,
  stage: Stage,
  { tasks, client, turn, signal }: WholeListOptions,
): AsyncGenerator<readonly Hit[]> {
  const order = sortedOrder(stage.name)
  if (order === undefined) return
  const found = new Map<Segment, number[]>()
  const slice = new TimeSlice()
  const add = (segment: Segment, position: number) => {
    const positions = found.get(segment)
    if (positions === undefined) found.set(segment, [position])
    else positions.push(position)
  }
  await turn(() =>
    finish(allMatches(segments.registered, stageQuery(filters, context, stage), slice, add), slice, signal),
  )
  const hits = [...found].map(([segment, positions]) => ({ segment, positions: Uint32Array.from(positions) }))
  const parts: readonly Selected[] = hits.map(({ segment, positions }) => {
    const { names, starts, modified, numbers } = segment.columns
    const scores = ranking?.getScores(segment.columns)
    return { columns: { names, starts, modified, numbers }, positions, scores }
  })
  const input: Input = { kind: 'sort', parts, order, descending: !ascending }
  const sorted = await tasks.run<Input, Output['sort']>(BUILD_COLUMNS, input, {
    client,
    timeoutMs: BACKGROUND_TASK_TIMEOUT_MS,
  })
  const hitAt = (index: number): Hit[] => {
    let rest = index
    for (const { segment, positions } of hits) {
      const position = positions[rest]
      if (position !== undefined) return [{ segment, position }]
      rest -= positions.length
    }
    return []
  }
  for (let from = 0; from < sorted.length; from += PART) {
    signal.throwIfAborted()
    yield Array.from(sorted.subarray(from, from + PART)).flatMap(hitAt)
  }
}
