import type { LRUCache } from 'lru-cache'
import { lruCache } from './lru-cache.ts'

export interface RateLimitOptions {
  /** Calls accepted at the same moment after a pause. */
  readonly burst: number
  /** Calls per second in the long run. */
  readonly perSecond: number
  /** Clients remembered. Beyond that, the least recently seen one is forgotten and starts with a full bucket. */
  readonly maxClients: number
}

interface Bucket {
  tokens: number
  /** When `tokens` was last updated, in milliseconds of `now`. */
  at: number
}

/** A token bucket for each client. */
export class RateLimit {
  readonly #options: RateLimitOptions
  readonly #now: () => number
  readonly #buckets: LRUCache<string, Bucket>

  /** @param now milliseconds of a clock */
  constructor(options: RateLimitOptions, now: () => number = () => performance.now()) {
    this.#options = options
    this.#now = now
    this.#buckets = lruCache(options.maxClients)
  }

  /** Milliseconds until the client may make a call; 0 if it may now. Takes no token. */
  waitOf(client: string): number {
    const { tokens } = this.#refilled(client)
    return tokens >= 1 ? 0 : Math.ceil(((1 - tokens) * 1000) / this.#options.perSecond)
  }

  /** Takes a token. A call made too early delays the next ones. */
  count(client: string): void {
    const bucket = this.#refilled(client)
    bucket.tokens--
    this.#buckets.set(client, bucket)
  }

  #refilled(client: string): Bucket {
    const { burst, perSecond } = this.#options
    const now = this.#now()
    const known = this.#buckets.get(client) ?? { tokens: burst, at: now }
    // A clock may be set back.
    const elapsedMs = Math.max(0, now - known.at)
    known.tokens = Math.min(burst, known.tokens + (elapsedMs * perSecond) / 1000)
    known.at = now
    return known
  }
}
