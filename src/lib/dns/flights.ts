import { hashOf } from './cache.ts'
import { Lookup, type LookupOwner, type LookupResult, type LookupSettings } from './lookup.ts'
import type { Answer } from './outcomes.ts'
import type { Upstream } from './upstream.ts'
import type { Query } from './wire.ts'

/** What flights of one kind share. */
export interface FlightOwner<A extends Answer> {
  /** Narrows an answer to those that this kind of look-up gives. */
  narrow(answer: Answer): A
  landed(flight: Flight<A>, answer: A, ttl: number | undefined): void
}

/** A look-up in flight, from before its servers are known until it is answered. */
export class Flight<A extends Answer> implements LookupOwner {
  readonly key: string
  readonly answer: Promise<A>
  /** The next flight in the same bucket. */
  next: Flight<A> | undefined
  readonly #owner: FlightOwner<A>
  #resolve: (answer: A) => void = () => {}
  #lookup: Lookup | undefined
  #isOver = false

  constructor(key: string, owner: FlightOwner<A>) {
    this.key = key
    this.#owner = owner
    this.answer = new Promise((resolve) => (this.#resolve = resolve))
  }

  start(query: Query, upstream: Upstream, settings: LookupSettings): void {
    if (!this.#isOver) this.#lookup = new Lookup(query, upstream, settings, this)
  }

  landed(result: LookupResult): void {
    if (this.#isOver) return
    this.#isOver = true
    const answer = this.#owner.narrow(result.answer)
    this.#owner.landed(this, answer, result.ttl)
    this.#resolve(answer)
  }

  end(kind: 'failed' | 'timeout'): void {
    this.#lookup?.abort()
    this.landed({ answer: { kind }, ttl: undefined })
  }
}

const BUCKETS = 4_096

/** Look-ups in flight by key. A hash table of linked lists; `Pending` explains why it is not a Map. */
export class Flights<A extends Answer> {
  size = 0
  readonly #buckets: (Flight<A> | undefined)[] = Array.from({ length: BUCKETS }, () => undefined)

  find(key: string): Flight<A> | undefined {
    let flight = this.#buckets[bucketOf(key)]
    while (flight !== undefined && flight.key !== key) flight = flight.next
    return flight
  }

  /** Adds a flight whose key has none yet. */
  add(flight: Flight<A>): void {
    const bucket = bucketOf(flight.key)
    flight.next = this.#buckets[bucket]
    this.#buckets[bucket] = flight
    this.size++
  }

  delete(flight: Flight<A>): void {
    const bucket = bucketOf(flight.key)
    let before = this.#buckets[bucket]
    if (before === flight) this.#buckets[bucket] = flight.next
    else {
      while (before !== undefined && before.next !== flight) before = before.next
      if (before === undefined) return
      before.next = flight.next
    }
    // An old object must not keep a young one alive.
    flight.next = undefined
    this.size--
  }

  all(): Flight<A>[] {
    const all: Flight<A>[] = []
    for (let flight of this.#buckets) for (; flight !== undefined; flight = flight.next) all.push(flight)
    return all
  }
}

const bucketOf = (key: string) => hashOf(key) & (BUCKETS - 1)
