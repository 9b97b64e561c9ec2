import {
  allMatches,
  finish,
  MergedSearch,
  TimeSlice,
  type Hit,
  type Segment,
  type Selected,
} from '../../lib/name-index/index.ts'
import type { Client } from '../../lib/client.ts'
import { BACKGROUND_TASK_TIMEOUT_MS, taskModule, type Tasks } from '../../lib/tasks.ts'
import type { Input } from '../tasks/sort-hits.ts'
import { isOfAll, stagesFrom, type Listing, type Stage } from './order.ts'
import { findPage, mergedSearch, sortedOrder, stageQuery, type IndexSegments } from './search.ts'

const SORT_HITS = taskModule('../tasks/sort-hits', import.meta)

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
export async function* wholeList(
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
  const input: Input = { parts, order, descending: !ascending }
  const sorted = await tasks.run<Input, Uint32Array>(SORT_HITS, input, {
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
