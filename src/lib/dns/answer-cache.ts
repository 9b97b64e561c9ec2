import { LRUCache } from 'lru-cache'
import type { Answer } from './classify.ts'

export interface CachedAnswer {
  readonly answer: Answer
  /** Estimated from the characters of the entry plus a fixed part. */
  readonly bytes: number
  /** In milliseconds of the clock of the resolver. */
  readonly expires: number
}

/** Maximum lifetimes of answers, in seconds. */
export interface CacheLimits {
  readonly maxTtl: number
  readonly maxNegativeTtl: number
  /** Lifetime of failures (RFC 9520): enough to stop a storm of retries. */
  readonly failureTtl: number
}

/** Estimated size of an entry without its texts. */
const ENTRY_BYTES = 300

export const estimateBytes = (key: string, answer: Answer): number =>
  ENTRY_BYTES + key.length + JSON.stringify(answer).length

/**
 * Returns how long to cache an answer, in seconds.
 * @param ttl seconds, uncapped; undefined for a failure
 */
export function getLifetime({ kind }: Answer, ttl: number | undefined, limits: CacheLimits): number {
  if (ttl === undefined) return kind === 'overloaded' ? 0 : limits.failureTtl
  const isPositive = kind === 'found' || kind === 'records'
  return Math.min(ttl, isPositive ? limits.maxTtl : limits.maxNegativeTtl)
}

const MAX_BYTES = 32 * 1024 * 1024
const MAX_CLIENT_BYTES = MAX_BYTES / 2

interface Entry {
  readonly cached: CachedAnswer
  readonly client: string
}

interface Share {
  bytes: number
  /** Oldest first. */
  readonly keys: Set<string>
}

/** Answers in memory. A client that has half of them replaces its own, so it cannot evict those of all others. */
export class AnswerCache {
  readonly #shares = new Map<string, Share>()
  readonly #entries = new LRUCache<string, Entry>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ cached }) => cached.bytes,
    dispose: (entry, key) => this.#discharge(entry, key),
  })

  get(key: string): CachedAnswer | undefined {
    return this.#entries.get(key)?.cached
  }

  set(key: string, cached: CachedAnswer, client: string): void {
    for (const oldest of this.#shares.get(client)?.keys ?? []) {
      if ((this.#shares.get(client)?.bytes ?? 0) + cached.bytes <= MAX_CLIENT_BYTES) break
      this.#entries.delete(oldest)
    }
    this.#entries.set(key, { cached, client })
    const share = this.#shares.get(client) ?? { bytes: 0, keys: new Set() }
    this.#shares.set(client, share)
    share.bytes += cached.bytes
    share.keys.add(key)
  }

  #discharge({ cached, client }: Entry, key: string): void {
    const share = this.#shares.get(client)
    if (share === undefined) return
    share.bytes -= cached.bytes
    share.keys.delete(key)
    if (share.keys.size === 0) this.#shares.delete(client)
  }
}
