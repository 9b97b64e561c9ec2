import type { Clock } from '../../lib/clock.ts'
import { lruCache } from '../../lib/lru-cache.ts'
import type { Database } from '../../storage/database/database.ts'
import type { Rate } from './key-limits.ts'
import { addRequests, rateWindows } from './queries.ts'

/** Windows cached in this process; when there are more, the least recently used one is dropped. */
const MAX_KEYS = 10_000
/** Keys per transaction. */
const MAX_CLAIMS = 512
/** The part of a rate that a process claims at a time. What it does not use, other processes lack until the window ends. */
const BATCH_SHARE = 1 / 64
/** Smallest rate whose next batch is claimed before it is needed. */
const MIN_PREFETCH_COUNT = 32
/** How long a request waits for the database before this process decides by its local count. */
const CLAIM_TIMEOUT_MS = 3_000

/** Requests of a key that a process claims from the shared window; a negative count returns unused ones. */
export interface Claim {
  readonly keyId: string
  readonly rate: Rate
  readonly count: number
}

export interface Grant {
  readonly keyId: string
  /** How many of the claimed requests fit into the window. */
  readonly granted: number
  /** Milliseconds until the window ends. */
  readonly remainingMs: number
}

/** Claims requests from the windows that all processes and nodes share. */
export type ClaimRequests = (claims: readonly Claim[]) => Promise<readonly Grant[]>

interface Window {
  readonly keyId: string
  readonly rate: Rate
  /** Claimed and unused requests, valid until `endsAt` by our clock. */
  tokens: number
  endsAt: number
  /** The shared window has no requests left. */
  isExhausted: boolean
  /** Requests accepted since `localStart` while the database did not respond. */
  localCount: number
  localStart: number
  readonly waiting: Set<(wait: number | undefined) => void>
}

/**
 * Enforces the rates of keys over all processes and nodes. The counts are in the database; each process claims small batches, so
 * that accepted requests rarely wait for the database and rejected ones never do. While the database does not respond, each
 * process allows the full rate.
 */
export class KeyRateLimit {
  readonly #clock: Clock
  readonly #claimRequests: ClaimRequests
  readonly #windows = lruCache<Window>(MAX_KEYS)
  readonly #pending = new Map<string, Window>()
  #running: Promise<void> | undefined
  #isTimedOut = false

  constructor(clock: Clock, claimRequests: ClaimRequests) {
    this.#clock = clock
    this.#claimRequests = claimRequests
  }

  /** Counts a request if a token is available. Returns false, and counts nothing, otherwise. */
  tryTake(keyId: string, rate: Rate | null): boolean {
    if (rate === null) return true
    const window = this.#toWindow(keyId, rate)
    if (window.tokens <= 0) return false
    this.#spend(window)
    return true
  }

  /**
   * Counts a request.
   * @returns undefined if it is within the rate, else the milliseconds until the window ends
   */
  async take(keyId: string, rate: Rate | null): Promise<number | undefined> {
    if (rate === null || this.tryTake(keyId, rate)) return undefined
    const window = this.#toWindow(keyId, rate)
    if (window.isExhausted) return window.endsAt - this.#clock.now()
    if (this.#isTimedOut) return this.#decideLocally(window)
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        window.waiting.delete(resume)
        this.#isTimedOut = this.#running !== undefined
        resolve(this.#decideLocally(window))
      }, CLAIM_TIMEOUT_MS)
      const resume = (wait: number | undefined) => {
        clearTimeout(timer)
        resolve(wait)
      }
      window.waiting.add(resume)
      this.#claim(window)
    })
  }

  /** Returns unused tokens to the shared windows. */
  async close(): Promise<void> {
    await this.#running
    const claims = [...this.#windows.values()].flatMap(({ keyId, rate, tokens, endsAt }): Claim[] =>
      tokens > 0 && endsAt > this.#clock.now() ? [{ keyId, rate, count: -tokens }] : [],
    )
    this.#windows.clear()
    // Best effort: if it fails, other processes get fewer requests until the window ends.
    if (claims.length > 0) await this.#claimRequests(claims.slice(0, MAX_CLAIMS)).catch(() => {})
  }

  #toWindow(keyId: string, rate: Rate): Window {
    let window = this.#windows.get(keyId)
    if (window === undefined) {
      window = {
        keyId,
        rate,
        tokens: 0,
        endsAt: 0,
        isExhausted: false,
        localCount: 0,
        localStart: this.#clock.now(),
        waiting: new Set(),
      }
      this.#windows.set(keyId, window)
    }
    this.#renew(window)
    return window
  }

  /** Resets a window that is over. A clock that was set back must not prolong it. */
  #renew(window: Window): void {
    const now = this.#clock.now()
    const { periodMs } = window.rate
    if (now >= window.endsAt || window.endsAt - now > periodMs) {
      window.tokens = 0
      window.isExhausted = false
    }
  }

  #spend(window: Window): void {
    window.tokens--
    if (window.tokens === 0 && window.rate.count >= MIN_PREFETCH_COUNT) this.#claim(window)
  }

  #decideLocally(window: Window): number | undefined {
    const now = this.#clock.now()
    const { periodMs, count } = window.rate
    if (now - window.localStart >= periodMs || now < window.localStart) {
      window.localCount = 0
      window.localStart = now
    }
    if (window.localCount >= count) return window.localStart + periodMs - now
    window.localCount++
    return undefined
  }

  #claim(window: Window): void {
    this.#pending.set(window.keyId, window)
    this.#running ??= this.#claimAll().finally(() => {
      this.#running = undefined
      this.#isTimedOut = false
    })
  }

  /** Runs one transaction after another, each for all keys that are pending when it starts. */
  async #claimAll(): Promise<void> {
    // Requests of the same turn of the event loop share a transaction.
    await Promise.resolve()
    while (this.#pending.size > 0) {
      const windows = [...this.#pending.values()].slice(0, MAX_CLAIMS)
      for (const { keyId } of windows) this.#pending.delete(keyId)
      const claims = windows.filter(lacksTokens).map(getClaim)
      if (claims.length === 0) continue
      try {
        const grants = new Map((await this.#claimRequests(claims)).map((grant) => [grant.keyId, grant]))
        for (const claim of claims) this.#receive(claim, grants.get(claim.keyId))
      } catch {
        for (const { window } of claims) {
          for (const resume of window.waiting) resume(this.#decideLocally(window))
          window.waiting.clear()
        }
      }
      this.#isTimedOut = false
    }
  }

  #receive({ window, count }: WindowClaim, { granted, remainingMs }: Omit<Grant, 'keyId'> = NO_GRANT): void {
    const { waiting } = window
    this.#renew(window)
    window.tokens += granted
    window.endsAt = this.#clock.now() + remainingMs
    window.isExhausted = granted < count
    for (const resume of waiting) {
      if (window.tokens === 0 && !window.isExhausted) break
      waiting.delete(resume)
      if (window.tokens === 0) {
        resume(remainingMs)
        continue
      }
      window.tokens--
      resume(undefined)
    }
    // Requests that arrived during the claim.
    if (waiting.size > 0) this.#pending.set(window.keyId, window)
  }
}

interface WindowClaim extends Claim {
  readonly window: Window
}

const NO_GRANT = { granted: 0, remainingMs: 0 }

const lacksTokens = ({ tokens, isExhausted, waiting }: Window): boolean =>
  tokens === 0 && (waiting.size > 0 || !isExhausted)

function getClaim(window: Window): WindowClaim {
  const { keyId, rate, waiting } = window
  const batch = Math.max(1, Math.floor(rate.count * BATCH_SHARE))
  return { keyId, rate, window, count: Math.max(batch, Math.min(rate.count, waiting.size)) }
}

/** Claims from the windows in the database, which all processes and nodes share. */
export function claimFromDatabase(database: Database): ClaimRequests {
  return async (claims) => {
    // In one order everywhere, so that transactions do not deadlock.
    const sorted = claims.toSorted((a, b) => (a.keyId < b.keyId ? -1 : 1))
    const ids = sorted.map(({ keyId }) => keyId)
    const rows = JSON.stringify(sorted.map(({ keyId, count, rate }) => [keyId, count, rate.periodMs]))
    const windows = await database.transaction(async (tx) => {
      await tx.runMany(addRequests(database.dialect), [], new TextEncoder().encode(rows))
      return tx.all(rateWindows(database.dialect, ids))
    })
    const byId = new Map(windows.map((window) => [window.id, window]))
    return sorted.flatMap((claim): Grant[] => {
      const window = byId.get(claim.keyId)
      if (window === undefined) return []
      const before = Number(window.count) - claim.count
      const granted = Math.min(claim.count, Math.max(0, claim.rate.count - before))
      return [{ keyId: claim.keyId, granted, remainingMs: Number(window.remaining) }]
    })
  }
}
