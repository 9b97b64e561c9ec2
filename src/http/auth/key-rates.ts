import type { Clock } from '../../lib/clock.ts'
import { lruCache } from '../../lib/lru-cache.ts'
import type { Rate } from './key-limits.ts'

/** Keys with a rate whose windows are known in this process; past it the one unused for longest is forgotten. */
const MAX_KEYS = 10_000
/** Keys claimed for in one transaction. */
const MAX_CLAIMS = 512
/** A process claims this part of a rate at a time. What it does not use is lost to the others until the window ends. */
const BATCH_PART = 1 / 64
/** From this many requests in a window on the next batch is claimed ahead: fewer could not spare it. */
const AHEAD_FROM = 32
/** How long a request waits for the database before this process decides by its own count. */
const WAIT_MS = 3_000

/** Requests of a key that a process claims from the shared window, or gives back where the number is negative. */
export interface Claim {
  readonly keyId: string
  readonly rate: Rate
  readonly count: number
}

export interface Grant {
  readonly keyId: string
  /** How many of those claimed fit into the window. */
  readonly granted: number
  /** Milliseconds until the window ends. */
  readonly remainingMs: number
}

/** Claims requests from the windows that all processes and nodes share. */
export type SharedWindows = (claims: readonly Claim[]) => Promise<readonly Grant[]>

interface Window {
  readonly keyId: string
  readonly rate: Rate
  /** Claimed and not used; worth nothing after the window's end, by our clock. */
  tokens: number
  endsAt: number
  /** Nobody gets any more before the end. */
  isExhausted: boolean
  /** Let through without a claim while the database did not answer. */
  unclaimed: number
  /** What this process let through since then, whatever the others did. */
  own: number
  ownSince: number
  readonly waiting: Set<(wait: number | undefined) => void>
}

/**
 * Holds keys to their rates, over all processes and nodes together. The count is in the database; each process claims small
 * batches from it, so that a request rarely waits for the database and a refused one never does. While the database does
 * not answer, each process lets through what it would alone.
 */
export class KeyRates {
  readonly #clock: Clock
  readonly #shared: SharedWindows
  readonly #windows = lruCache<Window>(MAX_KEYS)
  readonly #pending = new Map<string, Window>()
  #running: Promise<void> | undefined
  #isLate = false

  constructor(clock: Clock, shared: SharedWindows) {
    this.#clock = clock
    this.#shared = shared
  }

  /** Counts a request if that needs no wait. Returns false, and counts nothing, otherwise. */
  tryTake(keyId: string, rate: Rate | null): boolean {
    if (rate === null) return true
    const window = this.#windowOf(keyId, rate)
    if (window.tokens <= 0) return false
    this.#spend(window)
    return true
  }

  /**
   * Counts a request.
   * @returns undefined if it is within the rate, else the milliseconds until the next one may be
   */
  async take(keyId: string, rate: Rate | null): Promise<number | undefined> {
    if (rate === null || this.tryTake(keyId, rate)) return undefined
    const window = this.#windowOf(keyId, rate)
    if (window.isExhausted) return window.endsAt - this.#clock.now()
    if (this.#isLate) return this.#decideAlone(window)
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        window.waiting.delete(answer)
        this.#isLate = this.#running !== undefined
        resolve(this.#decideAlone(window))
      }, WAIT_MS)
      const answer = (wait: number | undefined) => {
        clearTimeout(timer)
        resolve(wait)
      }
      window.waiting.add(answer)
      this.#claim(window)
    })
  }

  /** Gives back what was claimed and not used. */
  async close(): Promise<void> {
    await this.#running
    const claims = [...this.#windows.values()].flatMap(({ keyId, rate, tokens, endsAt }): Claim[] =>
      tokens > 0 && endsAt > this.#clock.now() ? [{ keyId, rate, count: -tokens }] : [],
    )
    this.#windows.clear()
    // Without it the others get a little less until the window ends.
    if (claims.length > 0) await this.#shared(claims.slice(0, MAX_CLAIMS)).catch(() => {})
  }

  #windowOf(keyId: string, rate: Rate): Window {
    let window = this.#windows.get(keyId)
    if (window === undefined) {
      window = {
        keyId,
        rate,
        tokens: 0,
        endsAt: 0,
        isExhausted: false,
        unclaimed: 0,
        own: 0,
        ownSince: this.#clock.now(),
        waiting: new Set(),
      }
      this.#windows.set(keyId, window)
    }
    this.#renew(window)
    return window
  }

  /** Forgets what was true of a window that is over. A clock that was set back must not prolong it. */
  #renew(window: Window): void {
    const now = this.#clock.now()
    const { periodMs } = window.rate
    if (now >= window.endsAt || window.endsAt - now > periodMs) {
      window.tokens = 0
      window.isExhausted = false
    }
    if (now - window.ownSince >= periodMs || now < window.ownSince) {
      window.own = 0
      window.ownSince = now
    }
  }

  #spend(window: Window): void {
    window.tokens--
    window.own++
    if (window.tokens === 0 && window.rate.count >= AHEAD_FROM) this.#claim(window)
  }

  #decideAlone(window: Window): number | undefined {
    const { own, ownSince, rate } = window
    if (own >= rate.count) return ownSince + rate.periodMs - this.#clock.now()
    window.own++
    window.unclaimed++
    return undefined
  }

  #claim(window: Window): void {
    this.#pending.set(window.keyId, window)
    this.#running ??= this.#claimAll().finally(() => {
      this.#running = undefined
      this.#isLate = false
    })
  }

  /** One transaction after the other, each for all keys that want something by then. */
  async #claimAll(): Promise<void> {
    // Requests of the same turn share a transaction.
    await Promise.resolve()
    while (this.#pending.size > 0) {
      const windows = [...this.#pending.values()].slice(0, MAX_CLAIMS)
      for (const { keyId } of windows) this.#pending.delete(keyId)
      const claims = windows.filter(lacksTokens).map(claimOf)
      if (claims.length === 0) continue
      try {
        const grants = new Map((await this.#shared(claims)).map((grant) => [grant.keyId, grant]))
        for (const claim of claims) this.#receive(claim, grants.get(claim.keyId))
      } catch {
        for (const { window } of claims) {
          for (const answer of window.waiting) answer(this.#decideAlone(window))
          window.waiting.clear()
        }
      }
      this.#isLate = false
    }
  }

  #receive(
    { window, count, owed }: OwnClaim,
    { granted, remainingMs }: Omit<Grant, 'keyId'> = NOTHING,
  ): void {
    const { waiting } = window
    this.#renew(window)
    // What was let through without a claim is paid first.
    window.unclaimed -= owed
    window.tokens += Math.max(0, granted - owed)
    window.endsAt = this.#clock.now() + remainingMs
    window.isExhausted = granted < count
    for (const answer of waiting) {
      if (window.tokens === 0 && !window.isExhausted) break
      waiting.delete(answer)
      if (window.tokens === 0) {
        answer(remainingMs)
        continue
      }
      window.tokens--
      window.own++
      answer(undefined)
    }
    // Those that came while the claim was under way.
    if (waiting.size > 0) this.#pending.set(window.keyId, window)
  }
}

interface OwnClaim extends Claim {
  readonly window: Window
  /** How many of those claimed were let through before. */
  readonly owed: number
}

const NOTHING = { granted: 0, remainingMs: 0 }

const lacksTokens = ({ tokens, isExhausted, waiting }: Window): boolean =>
  tokens === 0 && (waiting.size > 0 || !isExhausted)

function claimOf(window: Window): OwnClaim {
  const { keyId, rate, unclaimed, waiting } = window
  const batch = Math.max(1, Math.floor(rate.count * BATCH_PART))
  const count = Math.max(batch, Math.min(rate.count, unclaimed + waiting.size))
  return { keyId, rate, window, count, owed: unclaimed }
}
