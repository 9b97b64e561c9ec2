import { AnswerCache, type CacheLimits } from './cache.ts'
import { Flight, type FlightOwner } from './flights.ts'
import type { LookupSettings } from './lookup.ts'
import type { Answer } from './outcomes.ts'
import type { Upstream, Upstreams } from './upstream.ts'
import type { Query } from './wire.ts'

/** Counts that the look-ups of all types share. */
export interface LookupCounts {
  hits: number
  misses: number
  /** Look-ups that joined an equal one in flight. */
  coalesced: number
  overloaded: number
  inFlight: number
}

export interface CachedLookupsOptions<A extends Answer> {
  readonly upstreams: Upstreams
  readonly settings: LookupSettings
  readonly limits: CacheLimits
  readonly maxInFlight: number
  readonly counts: LookupCounts
  readonly narrow: (answer: Answer) => A
}

/** Look-ups of one kind: cached, and equal ones in flight share one query. */
export class CachedLookups<A extends Answer> implements FlightOwner<A> {
  readonly #options: CachedLookupsOptions<A>
  readonly #cache: AnswerCache<A>
  readonly #flights = new Map<string, Flight<A>>()
  readonly #failed: Promise<A>
  readonly #overloaded: Promise<A>
  readonly narrow: (answer: Answer) => A
  #isClosed = false

  constructor(options: CachedLookupsOptions<A>) {
    this.#options = options
    this.#cache = new AnswerCache(options.limits, options.settings.now)
    this.narrow = options.narrow
    this.#failed = Promise.resolve(options.narrow({ kind: 'failed' }))
    this.#overloaded = Promise.resolve(options.narrow({ kind: 'overloaded' }))
  }

  get cached(): number {
    return this.#cache.size
  }

  /**
   * Settles within the deadline and never rejects.
   * @param key identifies the query
   * @param createQuery called unless the answer is cached or in flight; undefined for a name that no message can carry
   */
  get(key: string, createQuery: () => Query | undefined): Promise<A> {
    const { counts, maxInFlight } = this.#options
    if (this.#isClosed) return this.#failed
    const cached = this.#cache.get(key)
    if (cached !== undefined) {
      counts.hits++
      return Promise.resolve(cached)
    }
    const flight = this.#flights.get(key)
    if (flight !== undefined) {
      counts.coalesced++
      return flight.answer
    }
    counts.misses++
    const query = createQuery()
    if (query === undefined) return this.#failed
    if (counts.inFlight >= maxInFlight) {
      counts.overloaded++
      return this.#overloaded
    }
    return this.#start(key, query)
  }

  landed(flight: Flight<A>, answer: A, ttl: number | undefined): void {
    this.#flights.delete(flight.key)
    this.#options.counts.inFlight--
    if (!this.#isClosed) this.#cache.set(flight.key, answer, ttl)
  }

  /** Look-ups in flight and later ones end as `failed`. */
  close(): void {
    this.#isClosed = true
    for (const flight of this.#flights.values()) flight.end('failed')
    this.#cache.clear()
  }

  #start(key: string, query: Query): Promise<A> {
    const { upstreams, settings, counts } = this.#options
    const flight = new Flight<A>(key, this)
    this.#flights.set(key, flight)
    counts.inFlight++
    const upstream = upstreams.current()
    if (upstream instanceof Promise) void this.#startLater(flight, query, upstream)
    else flight.start(query, upstream, settings)
    return flight.answer
  }

  /** The search for servers counts towards the deadline. */
  async #startLater(flight: Flight<A>, query: Query, upstream: Promise<Upstream | undefined>) {
    const { settings } = this.#options
    const endsAt = performance.now() + settings.deadlineMs
    const timer = setTimeout(() => flight.end('timeout'), settings.deadlineMs)
    const found = await upstream
    clearTimeout(timer)
    if (found === undefined) return flight.end('failed')
    flight.start(query, found, { ...settings, deadlineMs: Math.max(1, endsAt - performance.now()) })
  }
}
