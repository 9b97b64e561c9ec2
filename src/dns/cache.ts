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

/**
 * Answers by name for as long as their TTL allows, in two generations: when the young one has half of the memory it is
 * the old one, and what was old and not asked for since is gone. That forgets about what the least recent use would, and
 * a new answer, of which a bulk brings thousands, costs a tenth of what keeping all of them in their order does.
 */
export class AnswerCache {
  readonly #limits: CacheLimits
  readonly #now: () => number
  #young = new Map<string, Entry>()
  #old = new Map<string, Entry>()
  #youngBytes = 0

  constructor(limits: CacheLimits, now: () => number) {
    this.#limits = limits
    this.#now = now
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }

  get(name: string): NameServerAnswer | undefined {
    const young = this.#young.get(name)
    const entry = young ?? this.#old.get(name)
    if (entry === undefined) return undefined
    const isValid = entry.expiresAt > this.#now()
    if (young === undefined) {
      this.#old.delete(name)
      if (isValid) this.#keep(name, entry)
    } else if (!isValid) {
      this.#young.delete(name)
      this.#youngBytes -= weigh(name, entry.answer)
    }
    return isValid ? entry.answer : undefined
  }

  set(name: string, { answer, ttl }: LookupResult): void {
    const seconds = this.#lifetime(answer, ttl ?? 0)
    if (seconds > 0) this.#keep(name, { answer, expiresAt: this.#now() + seconds * 1_000 })
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
    this.#youngBytes = 0
  }

  /** The name is in neither. */
  #keep(name: string, entry: Entry): void {
    const bytes = weigh(name, entry.answer)
    const half = this.#limits.maxBytes / 2
    if (bytes > half) return
    if (this.#youngBytes + bytes > half) {
      this.#old = this.#young
      this.#young = new Map()
      this.#youngBytes = 0
    }
    this.#young.set(name, entry)
    this.#youngBytes += bytes
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
