import { accountClient } from '../../lib/client.ts'
import { localDateTime } from '../../lib/dates.ts'
import { countMatches, finish, TimeSlice, type IndexTerm } from '../../lib/name-index/index.ts'
import type { Reader } from '../../storage/database/database.ts'
import { REVISION } from '../filtered-record.ts'
import type { Filters } from '../filters.ts'
import { toTimestamp } from '../list/hits.ts'
import type { DomainContext } from '../context.ts'
import { indexQuery } from '../list/search.ts'
import { NameSet } from '../servers.ts'
import * as queries from './queries.ts'

export const RECENT_DAYS = 30
const RECENT_MS = RECENT_DAYS * 24 * 60 * 60_000
/** Names read at a time. */
const PAGE = 50_000

type PreviewContext = Pick<DomainContext, 'clock' | 'database' | 'nameIndex' | 'searches' | 'timeZone'>

interface RuleCounts {
  /** Records that match now. */
  readonly matches: number
  /** Those of them that were recorded or freed lately. */
  readonly last_30_days: number
  /** Those of them that members marked for review. */
  readonly in_review: number
}

/** Counts what a rule would match. @param signal ends the search */
export async function previewRule(
  options: PreviewContext,
  filters: Filters,
  account: number,
  signal: AbortSignal,
): Promise<RuleCounts> {
  const { clock, database, nameIndex, searches, timeZone } = options
  const now = clock.now()
  const since = now - RECENT_MS
  const freedSince = localDateTime(since, timeZone)
  const { registered } = await nameIndex.current({ isFresh: true, left: () => signal })
  const slice = new TimeSlice()
  const context = nameIndex.contextAt(now)
  const count = (also: readonly IndexTerm[] = []) =>
    finish(countMatches(registered, indexQuery(filters, context, also), slice), slice, signal)
  return searches.run(
    accountClient(account),
    async () => {
      const recorded = new NameSet(await recordedSince(database.scannerOf(account, signal), since)).index
      const freedFrom = toTimestamp(freedSince)
      const isRecent: IndexTerm = {
        kind: 'record',
        test: (segment, position) =>
          segment.deletedAt(position) >= freedFrom || recorded.test(segment, position),
      }
      return {
        matches: await count(),
        last_30_days: await count([isRecent]),
        in_review: await count([{ kind: 'trait', trait: REVISION, min: 1, max: 1 }]),
      }
    },
    signal,
  )
}

async function recordedSince(reader: Reader, since: number): Promise<ReadonlySet<string>> {
  const names = new Set<string>()
  let after = (await firstChangeSince(reader, since)) - 1
  for (let isMore = true; isMore;) {
    const page = await reader.first(queries.recordedAfter(after, PAGE))
    for (const name of page?.names?.split(' ') ?? []) names.add(name)
    after = page?.last ?? after
    isMore = page?.count === PAGE
  }
  return names
}

/** Returns the id from which on changes were made since a time, by bisection: ids grow with time, and have gaps. */
async function firstChangeSince(reader: Reader, since: number): Promise<number> {
  let low = 0
  let high = ((await reader.first(queries.newestChange()))?.id ?? 0) + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const change = await reader.first(queries.changeFrom(middle))
    if (change === undefined || change.at >= since) high = middle
    else low = change.id + 1
  }
  return low
}
