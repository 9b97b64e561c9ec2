import type { Clock } from '../../lib/clock.ts'
import { localDateTime } from '../../lib/dates.ts'
import { FairSlots } from '../../lib/fair-slots.ts'
import type { Database } from '../../storage/database/database.ts'
import { clientOf } from '../../storage/database/turns.ts'
import { VersionedCache } from '../../storage/database/versioned-cache.ts'
import { DISCARDED_LIFETIME_MS } from '../discarding.ts'
import { firstDiscarded } from '../queries.ts'
import type { NameIndex } from '../list/name-index.ts'
import { countInCatalogue } from './count-catalogue.ts'
import { countInDatabase } from './count-database.ts'
import type { CountRequest } from './counted.ts'
import { dayOf } from './days.ts'
import { lastAdds } from './queries.ts'

/** Statistics in line: each may take a second at a million records. */
const MAX_WAITING = 32
const MAX_WAITING_PER_ACCOUNT = 8
const WAIT_MS = 30_000
/** Kept until something is written; with ten years of days one has some 100 kB. */
const MAX_KEPT = 100

interface StatsRequest extends CountRequest {
  /** How many agents are told apart. */
  readonly agents: number
}

type Counts = Readonly<Record<'days' | 'lengths' | 'agents' | 'totals', object>>

interface Kept {
  readonly counts: Counts
  /** Milliseconds since 1970. */
  readonly validBefore: number
}

/** Counts records, for plots. */
export class Statistics {
  readonly #database: Database
  readonly #clock: Clock
  readonly #timeZone: string
  readonly #nameIndex: Pick<NameIndex, 'current'>
  readonly #turns = new FairSlots({
    slots: 1,
    slotsPerClient: 1,
    maxWaiting: MAX_WAITING,
    maxWaitingPerClient: MAX_WAITING_PER_ACCOUNT,
    timeoutMs: WAIT_MS,
  })
  readonly #kept: VersionedCache<Kept>

  constructor(database: Database, clock: Clock, timeZone: string, nameIndex: Pick<NameIndex, 'current'>) {
    this.#database = database
    this.#clock = clock
    this.#timeZone = timeZone
    this.#nameIndex = nameIndex
    this.#kept = new VersionedCache(database, 'domain', MAX_KEPT)
  }

  /** Today, in the time zone of the service. */
  today(): string {
    return dayOf(localDateTime(this.#clock.now(), this.#timeZone))
  }

  /**
   * @param account its id: accounts take turns
   * @throws OverloadError when too many are asked for at once
   */
  async counts(request: StatsRequest, account?: number): Promise<Counts> {
    const key = JSON.stringify(request)
    const known = await this.#kept.get(key, async () => undefined)
    if (known !== undefined && this.#clock.now() < known.validBefore) return known.counts
    return this.#turns.run(clientOf(account), async () => {
      let fresh: Kept | undefined
      // Whoever was in line before may have asked for the same.
      const kept = await this.#kept.get(key, async () => (fresh = await this.#read(request, account)))
      if (kept !== undefined && (kept === fresh || this.#clock.now() < kept.validBefore)) return kept.counts
      return (await this.#read(request, account)).counts
    })
  }

  /** When each account last added domains, to the second; null for those that never did. */
  async feeds(): Promise<{
    readonly account: readonly string[]
    readonly last_add: readonly (string | null)[]
  }> {
    const rows = await this.#database.all(lastAdds())
    return {
      account: rows.map(({ account }) => account),
      last_add: rows.map(({ added_at }) =>
        added_at === null ? null : localDateTime(added_at, this.#timeZone),
      ),
    }
  }

  async #read(request: StatsRequest, account: number | undefined): Promise<Kept> {
    const now = this.#clock.now()
    // Without any write the counts change only when a discarded record comes to the end of its days.
    const first = await this.#database.first(firstDiscarded(now))
    const segments = await this.#nameIndex.current()
    const { dialect } = this.#database
    const { days, tally } =
      segments === undefined
        ? await countInDatabase({ dialect, scanner: this.#database.scannerOf(account) }, request, now)
        : await countInCatalogue(segments, request, now)
    const counts = {
      days,
      lengths: tally.lengths(),
      agents: tally.agents(request.agents),
      totals: tally.totals,
    }
    return { counts, validBefore: (first?.marked_at ?? Infinity) + DISCARDED_LIFETIME_MS }
  }
}
