import type { Clock } from '../../lib/clock.ts'
import { localDateTime } from '../../lib/dates.ts'
import type { Gate } from '../../lib/gate.ts'
import type { Database } from '../../storage/database/database.ts'
import { accountClient } from '../../lib/client.ts'
import { VersionedCache } from '../../storage/database/versioned-cache.ts'
import { dependsOnTime } from '../filters.ts'
import { DISCARDED_LIFETIME_MS } from '../limits.ts'
import { firstDiscarded, lastAdds } from '../queries-records.ts'
import type { NameIndex } from '../list/name-index.ts'
import type { Rules } from '../rules/index.ts'
import { countInIndex } from './count-in-index.ts'
import { dayOf, type CountRequest } from './counts.ts'

/** Results cached until the next write; one of ten years takes about 100 kB. */
const MAX_CACHED = 100

interface StatsRequest extends CountRequest {
  /** How many agents are listed separately. */
  readonly agents: number
  /** How many rising words are listed; 0 for no list. */
  readonly rising: number
  /** How many tags are listed; 0 for no list. */
  readonly tags: number
}

type Counts = Readonly<Record<'days' | 'lengths' | 'agents' | 'totals', object>> & {
  readonly words?: object
  readonly tags?: object
}

interface CachedCounts {
  readonly counts: Counts
  /** Milliseconds since 1970. */
  readonly validBefore: number
}

export interface StatisticsOptions {
  readonly database: Database
  readonly clock: Clock
  readonly timeZone: string
  readonly nameIndex: Pick<NameIndex, 'current' | 'contextAt'>
  readonly rules: Pick<Rules, 'current'>
  readonly searches: Gate
}

/** Counts records for charts. */
export class Statistics {
  readonly #options: StatisticsOptions
  readonly #cache: VersionedCache<CachedCounts>

  constructor(options: StatisticsOptions) {
    this.#options = options
    this.#cache = new VersionedCache(options.database, 'domain', MAX_CACHED)
  }

  /** Today, in the time zone of the service. */
  today(): string {
    const { clock, timeZone } = this.#options
    return dayOf(localDateTime(clock.now(), timeZone))
  }

  /**
   * @param signal ends the counting
   * @throws OverloadError if too many requests wait
   */
  async counts(request: StatsRequest, account: number, signal: AbortSignal): Promise<Counts> {
    const { clock, rules } = this.#options
    const isOfRules = request.filters.hidden !== undefined
    const key = JSON.stringify([request, isOfRules && (await rules.current()).version])
    const known = this.#cache.peek(key)
    if (known !== undefined && clock.now() < known.validBefore) return known.counts
    const count = async () => {
      let fresh: CachedCounts | undefined
      // A request that waited before may have computed the same.
      const cached = await this.#cache.get(key, async () => (fresh = await this.#read(request, signal)))
      if (cached === fresh || clock.now() < cached.validBefore) return cached.counts
      return (await this.#read(request, signal)).counts
    }
    return this.#options.searches.run(accountClient(account), count, signal)
  }

  /** Returns when each account last added domains, to the second; null if it never did. */
  async lastAdds() {
    const { database, timeZone } = this.#options
    const rows = await database.all(lastAdds())
    return {
      account: rows.map(({ account }) => account),
      last_add: rows.map(({ added_at }) => (added_at === null ? null : localDateTime(added_at, timeZone))),
    }
  }

  async #read(request: StatsRequest, signal: AbortSignal): Promise<CachedCounts> {
    const { clock, database, nameIndex } = this.#options
    const now = clock.now()
    // Without a write, the counts change when a discarded record expires, or by filters of time.
    const first = await database.first(firstDiscarded(now))
    const { filters } = request
    const segments = await nameIndex.current({ filters, left: () => signal })
    const { days, totals, rising, tags } = await countInIndex(
      segments,
      request,
      nameIndex.contextAt(now),
      signal,
    )
    const most = tags.top(request.tags)
    const counts = {
      days,
      lengths: totals.lengths(),
      agents: totals.agents(request.agents),
      totals: totals.overall,
      ...(request.rising > 0 && { words: rising.top(request.rising) }),
      ...(request.tags > 0 && { tags: { tag: most.keys, count: most.count } }),
    }
    const validBefore = dependsOnTime(request.filters)
      ? now
      : (first?.marked_at ?? Infinity) + DISCARDED_LIFETIME_MS
    return { counts, validBefore }
  }
}
