import { LRUCache } from 'lru-cache'
import type { LookupResult } from './lookup.ts'
import type { NameServerAnswer } from './outcomes.ts'

export interface CacheLimits {
  /** Bound of the cache, counted in characters of names plus a fixed part for each entry. */
  readonly maxBytes: number
  /** Longest time, in seconds, that name servers are kept, whatever their TTL. */
  readonly maxTtl: number
  /** The same for "no such name" and "no name servers". */
  readonly maxNegativeTtl: number
  /** How long, in seconds, a failure is remembered (RFC 9520): enough to break a storm of retries. */
  readonly failureTtl: number
}

interface Entry {
  readonly answer: NameServerAnswer
  /** Milliseconds on the injected clock. */
  readonly expiresAt: number
}

/** About what an entry weighs beside its names. */
const ENTRY_BYTES = 200
const NAME_BYTES = 40

/** Answers by name for as long as their TTL allows; the least recently used go first when it is full. */
export class AnswerCache {
  readonly #entries: LRUCache<string, Entry>
  readonly #limits: CacheLimits
  readonly #now: () => number

  constructor(limits: CacheLimits, now: () => number) {
    this.#limits = limits
    this.#now = now
    this.#entries = new LRUCache({
      // Never reached before the other bound: a known number lets the library set its memory aside, and halves what a new
      // entry costs.
      max: Math.ceil(limits.maxBytes / ENTRY_BYTES),
      maxSize: limits.maxBytes,
      sizeCalculation: (entry, name) => weigh(name, entry.answer),
    })
  }

  get size(): number {
    return this.#entries.size
  }

  get(name: string): NameServerAnswer | undefined {
    const entry = this.#entries.get(name)
    if (entry === undefined) return undefined
    if (entry.expiresAt > this.#now()) return entry.answer
    this.#entries.delete(name)
    return undefined
  }

  set(name: string, { answer, ttl }: LookupResult): void {
    const seconds = this.#lifetime(answer, ttl ?? 0)
    if (seconds > 0) this.#entries.set(name, { answer, expiresAt: this.#now() + seconds * 1_000 })
  }

  clear(): void {
    this.#entries.clear()
  }

  #lifetime(answer: NameServerAnswer, ttl: number): number {
    switch (answer.kind) {
      case 'found':
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

function weigh(name: string, answer: NameServerAnswer): number {
  let bytes = ENTRY_BYTES + name.length
  if (answer.kind === 'found') for (const server of answer.servers) bytes += NAME_BYTES + server.length
  return bytes
}
