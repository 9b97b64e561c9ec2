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
