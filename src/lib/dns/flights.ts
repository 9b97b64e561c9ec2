import { hashOf } from './cache.ts'
import { Lookup, type LookupOwner, type LookupResult, type LookupSettings } from './lookup.ts'
import type { NameServerAnswer } from './outcomes.ts'
import type { Upstream } from './upstream.ts'
import type { Query } from './wire.ts'

/** A look-up under way, also while its servers are being found. */
export class Flight implements LookupOwner {
  readonly name: string
  readonly answer: Promise<NameServerAnswer>
  /** Whose name falls into the same bucket. */
  next: Flight | undefined
  readonly #onLanded: (flight: Flight, result: LookupResult) => void
  #resolve: (answer: NameServerAnswer) => void = () => {}
  #lookup: Lookup | undefined
  #isOver = false

  constructor(name: string, onLanded: (flight: Flight, result: LookupResult) => void) {
    this.name = name
    this.#onLanded = onLanded
    this.answer = new Promise((resolve) => (this.#resolve = resolve))
  }

  start(query: Query, upstream: Upstream, settings: LookupSettings): void {
    if (!this.#isOver) this.#lookup = new Lookup(query, upstream, settings, this)
  }

  landed(result: LookupResult): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#onLanded(this, result)
    this.#resolve(result.answer)
  }

  end(kind: 'failed' | 'timeout'): void {
    this.#lookup?.abort()
    this.landed({ answer: { kind }, ttl: undefined })
  }
}

const BUCKETS = 4_096

/** Look-ups under way by name. In lists of its own and in no Map, for the reason that `Pending` tells. */
export class Flights {
  size = 0
  readonly #buckets: (Flight | undefined)[] = Array.from({ length: BUCKETS }, () => undefined)

  find(name: string): Flight | undefined {
    let flight = this.#buckets[bucketOf(name)]
    while (flight !== undefined && flight.name !== name) flight = flight.next
    return flight
  }

  /** One for a name that has none. */
  add(flight: Flight): void {
    const bucket = bucketOf(flight.name)
    flight.next = this.#buckets[bucket]
    this.#buckets[bucket] = flight
    this.size++
  }

  delete(flight: Flight): void {
    const bucket = bucketOf(flight.name)
    let before = this.#buckets[bucket]
    if (before === flight) this.#buckets[bucket] = flight.next
    else {
      while (before !== undefined && before.next !== flight) before = before.next
      if (before === undefined) return
      before.next = flight.next
    }
    // Nothing may lead on from what is gone: what has grown old would keep what is young.
    flight.next = undefined
    this.size--
  }

  all(): Flight[] {
    const all: Flight[] = []
    for (let flight of this.#buckets) for (; flight !== undefined; flight = flight.next) all.push(flight)
    return all
  }
}

const bucketOf = (name: string) => hashOf(name) & (BUCKETS - 1)
