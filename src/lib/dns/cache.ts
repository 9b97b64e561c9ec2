import { LRUCache } from 'lru-cache'
import type { Answer } from './classify.ts'
import { textLength } from './record-data.ts'

export interface CacheLimits {
  /** Maximum size of the cache, estimated from the characters of its entries plus a fixed part for each. */
  readonly maxBytes: number
  /** Maximum TTL of positive answers, in seconds. */
  readonly maxTtl: number
  /** Maximum TTL of negative answers, in seconds. */
  readonly maxNegativeTtl: number
  /** How long failures are cached, in seconds (RFC 9520): enough to stop a storm of retries. */
  readonly failureTtl: number
}

/** Estimated size of an entry without its texts. */
const ENTRY_BYTES = 200
/** Estimated size of a value without its text. */
const VALUE_BYTES = 40

/** A cache of answers by key, with TTLs. Evicts the least recently used ones. */
export class AnswerCache {
  readonly #limits: CacheLimits
  readonly #answers: LRUCache<string, Answer>

  /** @param now a monotonic clock in milliseconds */
  constructor(limits: CacheLimits, now: () => number) {
    this.#limits = limits
    this.#answers = new LRUCache({
      maxSize: limits.maxBytes,
      sizeCalculation: (answer, key) => sizeOf(key, answer),
      ttlResolution: 0,
      // lru-cache takes a start of 0 for no TTL.
      perf: { now: () => now() + 1 },
    })
  }

  get size(): number {
    return this.#answers.size
  }

  get(key: string): Answer | undefined {
    return this.#answers.get(key)
  }

  /** @param ttl seconds, uncapped; undefined for a failure */
  set(key: string, answer: Answer, ttl: number | undefined): void {
    const seconds = this.#lifetime(answer, ttl ?? 0)
    // lru-cache still returns an entry whose age is its TTL.
    if (seconds > 0) this.#answers.set(key, answer, { ttl: seconds * 1_000 - 1 })
  }

  clear(): void {
    this.#answers.clear()
  }

  #lifetime(answer: Answer, ttl: number): number {
    switch (answer.kind) {
      case 'found':
      case 'records':
        return Math.min(ttl, this.#limits.maxTtl)
      case 'empty':
      case 'no-such-name':
        return Math.min(ttl, this.#limits.maxNegativeTtl)
      case 'refused':
      case 'failed':
      case 'timeout':
        return this.#limits.failureTtl
      case 'overloaded':
        return 0
    }
  }
}

function sizeOf(key: string, answer: Answer): number {
  let bytes = ENTRY_BYTES + key.length
  if (answer.kind === 'found') for (const server of answer.servers) bytes += VALUE_BYTES + server.length
  if (answer.kind === 'records') for (const value of answer.records) bytes += VALUE_BYTES + textLength(value)
  return bytes
}
