import type { Answer } from './outcomes.ts'
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
/** Bytes of `maxBytes` per slot. Most entries are larger, so the byte limit is usually reached before the slots run out. */
const SLOT_BYTES = 256
/** Associativity: the hash of a key selects this many slots. */
const WAYS = 8

/**
 * A cache of answers by key, with TTLs and second-chance eviction. Entries are slots in preallocated arrays and not objects:
 * bulk calls add thousands of entries that are never read again, and objects would burden the garbage collector.
 */
export class AnswerCache<A extends Answer> {
  readonly #limits: CacheLimits
  readonly #now: () => number
  readonly #keys: (string | undefined)[]
  readonly #answers: (A | undefined)[]
  readonly #hashes: Int32Array
  /** Milliseconds on the injected clock. */
  readonly #expiries: Float64Array
  readonly #isUsed: Uint8Array
  /** The slot at which eviction continues. */
  #hand = 0
  #bytes = 0
  #size = 0

  constructor(limits: CacheLimits, now: () => number) {
    this.#limits = limits
    this.#now = now
    const slots = Math.max(WAYS, 2 ** Math.ceil(Math.log2(limits.maxBytes / SLOT_BYTES)))
    this.#keys = empty(slots)
    this.#answers = empty(slots)
    this.#hashes = new Int32Array(slots)
    this.#expiries = new Float64Array(slots)
    this.#isUsed = new Uint8Array(slots)
  }

  get size(): number {
    return this.#size
  }

  get(key: string): A | undefined {
    const slot = this.#find(key, hashOf(key))
    if (slot === undefined) return undefined
    if ((this.#expiries[slot] ?? 0) <= this.#now()) {
      this.#remove(slot)
      return undefined
    }
    this.#isUsed[slot] = 1
    return this.#answers[slot]
  }

  /** @param ttl seconds, uncapped; undefined for a failure */
  set(key: string, answer: A, ttl: number | undefined): void {
    const seconds = this.#lifetime(answer, ttl ?? 0)
    const bytes = sizeOf(key, answer)
    if (seconds <= 0 || bytes > this.#limits.maxBytes) return
    const now = this.#now()
    const hash = hashOf(key)
    const slot = this.#find(key, hash) ?? this.#slotFor(hash, now)
    this.#remove(slot)
    while (this.#bytes + bytes > this.#limits.maxBytes) this.#makeRoom()
    this.#keys[slot] = key
    this.#answers[slot] = answer
    this.#hashes[slot] = hash
    this.#expiries[slot] = now + seconds * 1_000
    this.#bytes += bytes
    this.#size++
  }

  clear(): void {
    for (let slot = 0; slot < this.#keys.length; slot++) this.#remove(slot)
  }

  #find(key: string, hash: number): number | undefined {
    const first = this.#firstOf(hash)
    for (let slot = first; slot < first + WAYS; slot++) {
      if (this.#hashes[slot] === hash && this.#keys[slot] === key) return slot
    }
    return undefined
  }

  #firstOf(hash: number): number {
    return (hash & (this.#hashes.length / WAYS - 1)) * WAYS
  }

  /** Returns a slot for a new key: a free one, or that of the entry to evict. */
  #slotFor(hash: number, now: number): number {
    const first = this.#firstOf(hash)
    for (let slot = first; slot < first + WAYS; slot++) {
      if (this.#keys[slot] === undefined || (this.#expiries[slot] ?? 0) <= now) return slot
    }
    for (let slot = first; slot < first + WAYS; slot++) {
      if (this.#isUsed[slot] === 0) return slot
      this.#isUsed[slot] = 0
    }
    return first
  }

  #makeRoom(): void {
    const slot = this.#hand
    this.#hand = (slot + 1) % this.#keys.length
    if (this.#isUsed[slot] === 0) this.#remove(slot)
    this.#isUsed[slot] = 0
  }

  #remove(slot: number): void {
    const key = this.#keys[slot]
    const answer = this.#answers[slot]
    if (key === undefined || answer === undefined) return
    this.#bytes -= sizeOf(key, answer)
    this.#size--
    this.#keys[slot] = this.#answers[slot] = undefined
    this.#hashes[slot] = this.#isUsed[slot] = 0
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

/** Ten times as fast as `Array.from`, which matters at start. */
function empty<T>(slots: number): (T | undefined)[] {
  const made: (T | undefined)[] = []
  made.length = slots
  return made.fill(undefined)
}

function sizeOf(key: string, answer: Answer): number {
  let bytes = ENTRY_BYTES + key.length
  if (answer.kind === 'found') for (const server of answer.servers) bytes += VALUE_BYTES + server.length
  if (answer.kind === 'records') for (const value of answer.records) bytes += VALUE_BYTES + textLength(value)
  return bytes
}

/** FNV-1a, with its upper bits mixed into those that select the slots. */
export function hashOf(key: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  return hash ^ (hash >>> 15)
}
