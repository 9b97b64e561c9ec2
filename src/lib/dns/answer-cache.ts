import type { Answer } from './classify.ts'

/** Keeps answers. It decides which to evict, and how much of it a client may fill. */
export interface AnswerStore {
  get(key: string): CachedAnswer | undefined
  set(key: string, cached: CachedAnswer, client: string): void
}

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
export function getLifetime(answer: Answer, ttl: number | undefined, limits: CacheLimits): number {
  switch (answer.kind) {
    case 'found':
    case 'records':
      return Math.min(ttl ?? 0, limits.maxTtl)
    case 'empty':
    case 'no-such-name':
      return Math.min(ttl ?? 0, limits.maxNegativeTtl)
    case 'refused':
    case 'failed':
    case 'timeout':
      return limits.failureTtl
    case 'overloaded':
      return 0
  }
}
