import type { Clock } from '../../core/clock.ts'
import { localDateTime } from '../../core/dates.ts'
import { Mutex } from '../../core/queue.ts'
import type { Database } from '../../database/database.ts'
import { VersionedCache } from '../../database/versioned-cache.ts'
import { DISCARDED_LIFETIME_MS } from '../discarding.ts'
import type { Filters } from '../matches.ts'
import { firstDiscarded } from '../queries.ts'
import { addDays, dayOf, daysBetween } from './days.ts'
import * as queries from './queries.ts'
import { Tally } from './tally.ts'

/** Records counted in one statement, so that other scans come in between: some 60 ms. */
const PAGE = 50_000
/** Statistics in line: each may take a second at a million records. */
const MAX_WAITING = 32
const WAIT_MS = 30_000
/** Kept until something is written; with ten years of days one has some 100 kB. */
const MAX_KEPT = 100

export interface StatsRequest {
  readonly filters: Filters
  /** The days of the series, as moments from the first to the last. */
  readonly span: queries.Span
  /** How many agents are told apart. */
  readonly agents: number
}

export type Counts = Readonly<Record<'days' | 'lengths' | 'agents' | 'totals', object>>

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
  readonly #turns = new Mutex(MAX_WAITING, WAIT_MS)
  readonly #kept: VersionedCache<Kept>

  constructor(database: Database, clock: Clock, timeZone: string) {
    this.#database = database
    this.#clock = clock
    this.#timeZone = timeZone
    this.#kept = new VersionedCache(database, 'domain', MAX_KEPT)
  }

  /** Today, in the time zone of the service. */
  today(): string {
    return dayOf(localDateTime(this.#clock.now(), this.#timeZone))
  }

  /** @throws Overload when too many are asked for at once */
  async counts(request: StatsRequest): Promise<Counts> {
    const key = JSON.stringify(request)
    const known = await this.#kept.get(key, async () => undefined)
    if (known !== undefined && this.#clock.now() < known.validBefore) return known.counts
    return this.#turns.run(async () => {
      let fresh: Kept | undefined
      // Whoever was in line before may have asked for the same.
      const kept = await this.#kept.get(key, async () => (fresh = await this.#read(request)))
      if (kept !== undefined && (kept === fresh || this.#clock.now() < kept.validBefore)) return kept.counts
      return (await this.#read(request)).counts
    })
  }

  /** When each account last added domains, to the second; null for those that never did. */
  async feeds(): Promise<{
    readonly account: readonly string[]
    readonly last_add: readonly (string | null)[]
  }> {
    const rows = await this.#database.all(queries.lastAdds())
    return {
      account: rows.map(({ account }) => account),
      last_add: rows.map(({ added_at }) =>
        added_at === null ? null : localDateTime(added_at, this.#timeZone),
      ),
    }
  }

  async #read({ filters, span, agents }: StatsRequest): Promise<Kept> {
    const now = this.#clock.now()
    // Without any write the counts change only when a discarded record comes to the end of its days.
    const first = await this.#database.first(firstDiscarded(now))
    const tally = await this.#tally(filters, now)
    const counts = {
      days: await this.#days(filters, span, now),
      lengths: tally.lengths(),
      agents: tally.agents(agents),
      totals: tally.totals,
    }
    return { counts, validBefore: (first?.marked_at ?? Infinity) + DISCARDED_LIFETIME_MS }
  }

  async #days({ from: _from, to: _to, ...filters }: Filters, span: queries.Span, now: number) {
    const { dialect, scanner } = this.#database
    const first = dayOf(span.from)
    const date = Array.from({ length: daysBetween(first, dayOf(span.to)) }, (_, i) => addDays(first, i))
    const places = new Map(date.map((day, i) => [day, i]))
    const series = async (query: Parameters<typeof scanner.all<queries.DayRow>>[0]) => {
      const counts = date.map(() => 0)
      for (const { day, count } of await scanner.all(query)) {
        const place = places.get(day)
        if (place !== undefined) counts[place] = (counts[place] ?? 0) + count
      }
      return counts
    }
    return {
      date,
      registered: await series(queries.registrations(dialect, filters, span, now)),
      deleted: await series(queries.deletions(dialect, filters, span, now)),
    }
  }

  async #tally(filters: Filters, now: number): Promise<Tally> {
    const { dialect, scanner } = this.#database
    const tally = new Tally()
    for (let after = ''; ;) {
      const rows = await scanner.values(queries.groupsAfter(dialect, filters, after, PAGE, now))
      let visited = 0
      for (const row of rows) {
        tally.add(row)
        visited += Number(row[7])
        const last = String(row[8])
        if (last > after) after = last
      }
      if (visited < PAGE) return tally
    }
  }
}
