import { hash } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import { lruCache } from '../../lib/lru-cache.ts'
import type { Database } from '../../storage/database/database.ts'
import { clientGroup } from '../client.ts'
import {
  addFailures,
  anyExpiredFailures,
  deleteExpiredFailures,
  FAILURE_WINDOW_MS,
  sharedFailures,
  type SharedFailures,
} from './queries.ts'

/** Addresses counted at a time; when there are more, the least recently used ones are dropped. */
const MAX_ADDRESSES = 50_000
/** How often a process exchanges counts, and of how many addresses at a time: an attacker cannot cause more writes than this. */
const SYNC_INTERVAL_MS = 1_000
const MAX_SYNCED = 512

interface Failures {
  count: number
  windowStart: number
  /** Not yet added to the shared count. */
  pending: number
  /** Our part of the shared count in its window, and when that window ends by the database's clock. */
  synced: number
  sharedEnd: number
  /** What other processes counted, valid until then by our clock. */
  others: number
  othersUntil: number
}

/** What is being added to the shared count of an address, identified by a digest. */
interface Addition {
  readonly address: string
  readonly failures: Failures
  readonly count: number
}

/**
 * Limits failed authentications per client address: counts them here, and shares the counts with all processes and nodes through
 * the database. Only failures below the limit cause writes. Between two exchanges each process applies the limit to its own count.
 */
export class AuthRateLimit {
  readonly #database: Database
  readonly #clock: Clock
  readonly #limit: number
  readonly #failures = lruCache<Failures>(MAX_ADDRESSES)
  /** Addresses with counts that are not shared yet, oldest first. */
  readonly #pending = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #isClosed = false

  /** @param limit failures per address and minute */
  constructor(database: Database, clock: Clock, limit: number) {
    this.#database = database
    this.#clock = clock
    this.#limit = limit
  }

  /**
   * Counts a failure.
   * @returns undefined while the address is within its limit, else the milliseconds until it may try again
   */
  count(address: string): number | undefined {
    const now = this.#clock.now()
    const key = hash('sha256', clientGroup(address), 'base64url')
    const failures = this.#failures.get(key) ?? emptyFailures(now)
    this.#failures.set(key, failures)
    // The second case: a clock that was set back must not prolong the window.
    if (now - failures.windowStart >= FAILURE_WINDOW_MS || now < failures.windowStart) {
      failures.count = 0
      failures.windowStart = now
    }
    failures.count++
    if (failures.count > this.#limit) return failures.windowStart + FAILURE_WINDOW_MS - now
    const wait = failures.othersUntil - now
    const others = wait > 0 && wait <= FAILURE_WINDOW_MS ? failures.others : 0
    if (failures.count + others > this.#limit) return wait
    failures.pending++
    if (this.#pending.size < MAX_ADDRESSES) this.#pending.add(key)
    this.#schedule()
    return undefined
  }

  /** Stops sharing counts, and resolves when the running exchange has ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#running
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#running !== undefined || this.#isClosed) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#running = this.#share().finally(() => {
        this.#running = undefined
        if (this.#pending.size > 0) this.#schedule()
      })
    }, SYNC_INTERVAL_MS).unref()
  }

  async #share(): Promise<void> {
    const additions = this.#takePending()
    if (additions.length === 0) return
    const { dialect } = this.#database
    const addresses = additions.map(({ address }) => address)
    const rows = JSON.stringify(additions.map(({ address, count }) => [address, count]))
    try {
      const totals = await this.#database.transaction(async (tx) => {
        await tx.runMany(addFailures(dialect), [], new TextEncoder().encode(rows))
        return tx.all(sharedFailures(dialect, addresses))
      })
      this.#merge(additions, totals)
    } catch {
      // They are counted here in any case, and shared when the database is back.
      for (const { address, failures, count } of additions) {
        failures.pending += count
        this.#pending.add(address)
      }
    }
  }

  #takePending(): Addition[] {
    const taken: Addition[] = []
    for (const address of this.#pending) {
      if (taken.length === MAX_SYNCED) break
      this.#pending.delete(address)
      const failures = this.#failures.peek(address)
      if (failures === undefined || failures.pending === 0) continue
      taken.push({ address, failures, count: failures.pending })
      failures.pending = 0
    }
    return taken
  }

  /** Merges shared totals that already include the additions. */
  #merge(additions: readonly Addition[], totals: readonly SharedFailures[]): void {
    const shared = new Map(totals.map((total) => [total.address, total]))
    for (const { address, failures, count } of additions) {
      const total = shared.get(address)
      if (total === undefined) continue
      if (failures.sharedEnd !== total.ends_at) {
        failures.sharedEnd = total.ends_at
        failures.synced = 0
      }
      failures.synced += count
      failures.others = Math.max(0, total.count - failures.synced)
      failures.othersUntil = this.#clock.now() + total.remaining
    }
  }
}

const emptyFailures = (windowStart: number): Failures => ({
  count: 0,
  windowStart,
  pending: 0,
  synced: 0,
  sharedEnd: 0,
  others: 0,
  othersUntil: 0,
})

export async function hasExpiredFailures(database: Database): Promise<boolean> {
  return (await database.first(anyExpiredFailures(database.dialect))) !== undefined
}

/** Deletes shared counts whose window is over. */
export function deleteOldFailures(database: Database): Promise<number> {
  return database.transaction((tx) => tx.run(deleteExpiredFailures(database.dialect)))
}
