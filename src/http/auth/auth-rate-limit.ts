import { hash } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import { lruCache } from '../../lib/lru-cache.ts'
import { clientGroup } from '../client.ts'

export const WINDOW_MS = 60_000
/** Addresses whose wrong keys are counted at a time; past it the longest unseen one is forgotten. */
const MAX_ADDRESSES = 50_000

interface Failures {
  count: number
  since: number
  /** Counted, and not yet told to the other processes. */
  untold: number
  /** What was told of it in the window that the processes share, and when that ends by the database's clock. */
  told: number
  sharedEnd: number
  /** What the others counted, and until when (by our clock) it matters. */
  others: number
  othersUntil: number
}

/** Wrong keys of one address, by a digest of it. */
export interface FailureCount {
  readonly address: string
  readonly count: number
}

/** The sum over all processes. */
export interface SharedCount extends FailureCount {
  readonly ends_at: number
  /** Milliseconds until then. */
  readonly remaining: number
}

/** Counts wrong keys by the address that sent them: what came here, and what others have told of. */
export class FailedKeys {
  readonly #clock: Clock
  readonly #limit: number
  readonly #failures = lruCache<Failures>(MAX_ADDRESSES)
  readonly #untold = new Set<string>()
  #onUntold: () => void = () => {}

  /** @param limit wrong keys that one address may send in a minute before it is told to wait */
  constructor(clock: Clock, limit: number) {
    this.#clock = clock
    this.#limit = limit
  }

  /** @returns undefined while the address is within its bound, else the milliseconds that it has to wait */
  count(address: string): number | undefined {
    const now = this.#clock.now()
    const key = hash('sha256', clientGroup(address), 'base64url')
    const failures = this.#failures.get(key) ?? startOf(now)
    this.#failures.set(key, failures)
    // A clock that was set back must not freeze a window.
    if (now - failures.since >= WINDOW_MS || now < failures.since) {
      failures.count = 0
      failures.since = now
    }
    failures.count++
    if (failures.count > this.#limit) return failures.since + WINDOW_MS - now
    const wait = failures.othersUntil - now
    const others = wait > 0 && wait <= WINDOW_MS ? failures.others : 0
    if (failures.count + others > this.#limit) return wait
    failures.untold++
    if (this.#untold.size < MAX_ADDRESSES) this.#untold.add(key)
    this.#onUntold()
    return undefined
  }

  /** Calls `listener` at each wrong key that the other processes should know of. */
  onUntold(listener: () => void): void {
    this.#onUntold = listener
  }

  /** Hands out what the others should know, longest waiting first. */
  takeUntold(max: number): FailureCount[] {
    const taken: FailureCount[] = []
    for (const address of this.#untold) {
      if (taken.length === max) break
      this.#untold.delete(address)
      const failures = this.#failures.peek(address)
      if (failures === undefined || failures.untold === 0) continue
      taken.push({ address, count: failures.untold })
      failures.untold = 0
    }
    return taken
  }

  get hasUntold(): boolean {
    return this.#untold.size > 0
  }

  /** The telling failed: it is for the next time. */
  putBack(taken: readonly FailureCount[]): void {
    for (const { address, count } of taken) {
      const failures = this.#failures.peek(address)
      if (failures === undefined) continue
      failures.untold += count
      this.#untold.add(address)
    }
  }

  /** Takes note of the sums in which what was `taken` is contained. */
  learn(taken: readonly FailureCount[], sums: readonly SharedCount[]): void {
    const shared = new Map(sums.map((sum) => [sum.address, sum]))
    for (const { address, count } of taken) {
      const failures = this.#failures.peek(address)
      const sum = shared.get(address)
      if (failures === undefined || sum === undefined) continue
      if (failures.sharedEnd !== sum.ends_at) {
        failures.sharedEnd = sum.ends_at
        failures.told = 0
      }
      failures.told += count
      failures.others = Math.max(0, sum.count - failures.told)
      failures.othersUntil = this.#clock.now() + sum.remaining
    }
  }
}

const startOf = (since: number): Failures => ({
  count: 0,
  since,
  untold: 0,
  told: 0,
  sharedEnd: 0,
  others: 0,
  othersUntil: 0,
})
