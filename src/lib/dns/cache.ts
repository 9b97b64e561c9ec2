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

/** About what an entry weighs beside its names. */
const ENTRY_BYTES = 200
const NAME_BYTES = 40
/** Of memory for one slot: fewer than there are names when all are short, so that as a rule weight is what runs out. */
const SLOT_BYTES = 256
/** A name may be in any of so many slots, which its hash picks. */
const WAYS = 8

/**
 * Answers by name for as long as their TTL allows; what was not asked for since it was last looked at goes first when it
 * is full. A bulk brings thousands of answers that nobody asks for again: so there is no object for an entry, which the
 * collector would carry around, but a slot in arrays that are there once and for all.
 */
export class AnswerCache {
  readonly #limits: CacheLimits
  readonly #now: () => number
  readonly #names: (string | undefined)[]
  readonly #answers: (NameServerAnswer | undefined)[]
  readonly #hashes: Int32Array
  /** Milliseconds on the injected clock. */
  readonly #expiries: Float64Array
  readonly #isUsed: Uint8Array
  /** Where room is made next. */
  #hand = 0
  #bytes = 0
  #size = 0

  constructor(limits: CacheLimits, now: () => number) {
    this.#limits = limits
    this.#now = now
    const slots = Math.max(WAYS, 2 ** Math.ceil(Math.log2(limits.maxBytes / SLOT_BYTES)))
    this.#names = empty(slots)
    this.#answers = empty(slots)
    this.#hashes = new Int32Array(slots)
    this.#expiries = new Float64Array(slots)
    this.#isUsed = new Uint8Array(slots)
  }

  get size(): number {
    return this.#size
  }

  get(name: string): NameServerAnswer | undefined {
    const slot = this.#find(name, hashOf(name))
    if (slot === undefined) return undefined
    if ((this.#expiries[slot] ?? 0) <= this.#now()) {
      this.#remove(slot)
      return undefined
    }
    this.#isUsed[slot] = 1
    return this.#answers[slot]
  }

  set(name: string, { answer, ttl }: LookupResult): void {
    const seconds = this.#lifetime(answer, ttl ?? 0)
    const bytes = weigh(name, answer)
    if (seconds <= 0 || bytes > this.#limits.maxBytes) return
    const now = this.#now()
    const hash = hashOf(name)
    const slot = this.#find(name, hash) ?? this.#slotFor(hash, now)
    this.#remove(slot)
    while (this.#bytes + bytes > this.#limits.maxBytes) this.#makeRoom()
    this.#names[slot] = name
    this.#answers[slot] = answer
    this.#hashes[slot] = hash
    this.#expiries[slot] = now + seconds * 1_000
    this.#bytes += bytes
    this.#size++
  }

  clear(): void {
    for (let slot = 0; slot < this.#names.length; slot++) this.#remove(slot)
  }

  #find(name: string, hash: number): number | undefined {
    const first = this.#firstOf(hash)
    for (let slot = first; slot < first + WAYS; slot++) {
      if (this.#hashes[slot] === hash && this.#names[slot] === name) return slot
    }
    return undefined
  }

  #firstOf(hash: number): number {
    return (hash & (this.#hashes.length / WAYS - 1)) * WAYS
  }

  /** A free slot for a new name, or that of the one to go. */
  #slotFor(hash: number, now: number): number {
    const first = this.#firstOf(hash)
    for (let slot = first; slot < first + WAYS; slot++) {
      if (this.#names[slot] === undefined || (this.#expiries[slot] ?? 0) <= now) return slot
    }
    for (let slot = first; slot < first + WAYS; slot++) {
      if (this.#isUsed[slot] === 0) return slot
      this.#isUsed[slot] = 0
    }
    return first
  }

  #makeRoom(): void {
    const slot = this.#hand
    this.#hand = (slot + 1) % this.#names.length
    if (this.#isUsed[slot] === 0) this.#remove(slot)
    this.#isUsed[slot] = 0
  }

  #remove(slot: number): void {
    const name = this.#names[slot]
    const answer = this.#answers[slot]
    if (name === undefined || answer === undefined) return
    this.#bytes -= weigh(name, answer)
    this.#size--
    this.#names[slot] = this.#answers[slot] = undefined
    this.#hashes[slot] = this.#isUsed[slot] = 0
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

/** Each start of a process makes these, and `Array.from` takes ten times as long. */
function empty<T>(slots: number): (T | undefined)[] {
  const made: (T | undefined)[] = []
  made.length = slots
  return made.fill(undefined)
}

function weigh(name: string, answer: NameServerAnswer): number {
  let bytes = ENTRY_BYTES + name.length
  if (answer.kind === 'found') for (const server of answer.servers) bytes += NAME_BYTES + server.length
  return bytes
}

/** FNV-1a, its upper bits mixed into those that pick the slots. */
export function hashOf(name: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193)
  return hash ^ (hash >>> 15)
}
