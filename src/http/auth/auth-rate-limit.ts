import type { Clock } from '../../lib/clock.ts'
import { lruCache } from '../../lib/lru-cache.ts'
import { addressClient } from '../client.ts'

/** Addresses counted at a time; when there are more, the least recently seen one is forgotten. */
const MAX_ADDRESSES = 50_000
const WINDOW_MS = 60_000

interface Failures {
  count: number
  readonly windowStart: number
}

/** Limits failed authentications per client address, in this process. */
export class AuthRateLimit {
  readonly #clock: Clock
  readonly #limit: number
  readonly #failures = lruCache<Failures>(MAX_ADDRESSES)

  /** @param limit failures per address and minute */
  constructor(clock: Clock, limit: number) {
    this.#clock = clock
    this.#limit = limit
  }

  /**
   * Counts a failure.
   * @returns undefined while the address is within its limit, else the milliseconds until it may try again
   */
  count(address: string): number | undefined {
    const now = this.#clock.now()
    const client = addressClient(address)
    let failures = this.#failures.get(client)
    // The second case: a clock that was set back must not prolong the window.
    if (failures === undefined || now >= failures.windowStart + WINDOW_MS || now < failures.windowStart) {
      failures = { count: 0, windowStart: now }
      this.#failures.set(client, failures)
    }
    failures.count++
    return failures.count > this.#limit ? failures.windowStart + WINDOW_MS - now : undefined
  }
}
