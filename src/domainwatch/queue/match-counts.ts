import { FairCache } from '../../lib/fair-cache.ts'
import { scanInSlices } from '../../lib/name-index/index.ts'
import { namedFields } from '../../storage/database/changes/change.ts'
import { recordOf } from '../events/event.ts'
import { matches, type FilteredRecord, type Filters } from '../filters.ts'
import { indexQuery, type IndexSegments } from '../list/index-page.ts'
import type { SplitName } from '../words/dictionary.ts'

/** Filters whose count is cached: the views that a group works on. */
const MAX_FILTERS = 256
/** A count that is this many changes behind the index is repeated, which is faster than applying them. */
const MAX_CHANGES_BEHIND = 1_000
/** A time at which no record has expired: expiry is not in the log of changes. Milliseconds since 1970. */
export const BEFORE_EXPIRY = 0

/** The number of records that match, expired ones included: all changes up to one are counted, and none after it. */
export interface MatchCount {
  readonly matches: number
  readonly changeId: number
}

/** A change of a record. */
export interface RecordChange {
  readonly id: number
  readonly name: string
  readonly before: FilteredRecord | null
  readonly after: FilteredRecord | null
}

/** @param json elements of an array, as `queueState` returns them */
export function changesOf(json: string | null, split: SplitName): RecordChange[] {
  const read: readonly ChangeValues[] = JSON.parse(`[${json ?? ''}]`)
  return read.map(([id, name, before, after]) => ({
    id,
    name,
    before: recordOf(name, before && namedFields('domain', before), split),
    after: recordOf(name, after && namedFields('domain', after), split),
  }))
}

type Values = readonly (string | number | null)[] | null
type ChangeValues = readonly [id: number, name: string, before: Values, after: Values]

/** Brings a count forward by changes after it, in any order. */
export function advanced(
  count: MatchCount,
  filters: Filters,
  changes: Iterable<RecordChange>,
  changeId: number,
): MatchCount {
  let sum = count.matches
  const isIn = (record: FilteredRecord | null) => record !== null && matches(filters, record, BEFORE_EXPIRY)
  for (const { id, before, after } of changes) {
    if (id > count.changeId && id <= changeId) sum += Number(isIn(after)) - Number(isIn(before))
  }
  return { matches: sum, changeId: Math.max(count.changeId, changeId) }
}

interface Refresh {
  readonly filters: Filters
  readonly account: number
  /** A recent change. */
  readonly changeId: number
  readonly count: () => Promise<MatchCount>
}

/** Counts of matches that follow the log of changes, so that no call has to count all records. */
export class MatchCounts {
  readonly #counts = new FairCache<MatchCount>(MAX_FILTERS)

  get(filters: Filters): MatchCount | undefined {
    return this.#counts.get(JSON.stringify(filters))
  }

  /** @param account whose share of the cache the count uses */
  set(filters: Filters, account: number, count: MatchCount): void {
    this.#counts.set(JSON.stringify(filters), count, String(account))
  }

  /** To be called if changes after the count were removed. */
  forget(filters: Filters): void {
    this.#counts.delete(JSON.stringify(filters))
  }

  /** Counts again, unless the count is recent. */
  async refresh({ filters, account, changeId, count }: Refresh): Promise<void> {
    const known = this.get(filters)
    if (known !== undefined && changeId - known.changeId <= MAX_CHANGES_BEHIND) return
    this.set(filters, account, await count())
  }
}

/** Counts the matching records, as of the call. Yields to other work on the event loop. */
export async function countMatches(segments: IndexSegments, filters: Filters, now: number): Promise<number> {
  let count = 0
  for await (const scan of scanInSlices(segments.registered, indexQuery(filters, now)))
    while (scan.next()) count++
  return count
}
