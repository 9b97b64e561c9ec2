import {
  estimateBytes,
  getLifetime,
  type AnswerCache,
  type CachedAnswer,
  type CacheLimits,
} from './answer-cache.ts'
import type { NameServerAnswer, RecordAnswer, ServerRole } from './classify.ts'
import { FAILED_LOOKUP, Lookup, type LookupResult } from './lookup.ts'
import { createQuery, type Query } from './message.ts'
import type { QueryType, RecordType } from './record-data.ts'
import { orderServers, Server } from './server.ts'
import type { ServerAddress } from './servers.ts'
import { ZoneServers, type ZoneSource } from './zone.ts'

export interface ResolverOptions extends Partial<CacheLimits> {
  /** One at least, or where to find them. */
  readonly servers: readonly ServerAddress[] | ZoneSource
  /**
   * `resolver` (default): recursive resolvers in order of preference. `parent`: authoritative servers of the parent zone, which are
   * used in turn and whose delegation is the answer.
   */
  readonly role?: ServerRole
  /** May be shared with resolvers of other types. */
  readonly cache: Pick<AnswerCache, 'get' | 'set'>
  /** Maximum duration of a look-up, in milliseconds. */
  readonly deadlineMs?: number
  /** Silence after which the next server is queried as well, in milliseconds. */
  readonly retryMs?: number
  /** Maximum number of concurrent look-ups; others are `overloaded`. */
  readonly maxInFlight?: number
  /** A monotonic clock for TTLs, in milliseconds. */
  readonly now?: () => number
}

export interface ResolverStats {
  readonly hits: number
  readonly misses: number
  readonly inFlight: number
}

export const createResolver = (options: ResolverOptions): Resolver => new Resolver(options)

const FAILED = { kind: 'failed' } as const

/** Caches answers; equal look-ups in flight share one query. */
export class Resolver {
  readonly #options: Required<ResolverOptions>
  readonly #servers: readonly Server[] | ZoneServers
  readonly #inFlight = new Map<string, Promise<CachedAnswer>>()
  readonly #lookups = new Set<Lookup>()
  #hits = 0
  #misses = 0
  /** Counts the look-ups, whose servers take turns. */
  #turn = 0
  #isClosed = false

  constructor(options: ResolverOptions) {
    this.#options = {
      role: 'resolver',
      deadlineMs: 3_000,
      retryMs: 400,
      maxInFlight: 1_024,
      maxTtl: 3_600,
      maxNegativeTtl: 300,
      failureTtl: 2,
      now: () => performance.now(),
      ...options,
    }
    const { servers, now } = this.#options
    this.#servers =
      'zone' in servers ? new ZoneServers(servers, now) : servers.map((one) => new Server(one, now))
  }

  /**
   * Looks up name servers. Settles within the deadline and never rejects.
   * @param name lower case, A-label form, no trailing dot
   * @param client the answer counts for it in the cache
   */
  async nameServers(name: string, client = ''): Promise<NameServerAnswer> {
    const { answer } = await this.resolve(name, 'ns', client)
    // The query type determines the kind of answer, so here and below the other kind never occurs.
    return answer.kind === 'records' ? FAILED : answer
  }

  /** Looks up the RRset of another type. Needs resolvers: servers of the parent zone only know delegations, and it fails. */
  async records(name: string, type: RecordType, client = ''): Promise<RecordAnswer> {
    const { answer } = await this.resolve(name, type, client)
    return answer.kind === 'found' ? FAILED : answer
  }

  /** Looks up either, and returns the answer with the end of its lifetime. */
  resolve(name: string, type: QueryType, client = ''): CachedAnswer | Promise<CachedAnswer> {
    const { cache, maxInFlight, now, role } = this.#options
    const key = `${type} ${name}`
    if (this.#isClosed) return this.#cacheable(key, FAILED_LOOKUP)
    const cached = cache.get(key)
    if (cached !== undefined && now() < cached.expires) {
      this.#hits++
      return cached
    }
    const inFlight = this.#inFlight.get(key)
    if (inFlight !== undefined) return inFlight
    this.#misses++
    const query = createQuery(name, type, role)
    if (query === undefined) return this.#cacheable(key, FAILED_LOOKUP)
    if (this.#inFlight.size >= maxInFlight) {
      return this.#cacheable(key, { answer: { kind: 'overloaded' }, ttl: undefined })
    }
    const answer = this.#lookUp(key, query, client)
    this.#inFlight.set(key, answer)
    return answer
  }

  stats(): ResolverStats {
    return { hits: this.#hits, misses: this.#misses, inFlight: this.#inFlight.size }
  }

  /** Ends look-ups in flight, and later ones, as `failed`. Afterwards no socket and no timer is open. */
  close(): void {
    this.#isClosed = true
    for (const lookup of this.#lookups) lookup.abort()
  }

  async #lookUp(key: string, query: Query, client: string): Promise<CachedAnswer> {
    const servers = this.#servers instanceof ZoneServers ? this.#servers.get() : this.#servers
    const { deadlineMs, cache, now } = this.#options
    const cached = this.#cacheable(
      key,
      await (servers instanceof Promise
        ? this.#queryOnceFound(query, servers)
        : this.#query(query, servers, deadlineMs)),
    )
    this.#inFlight.delete(key)
    if (!this.#isClosed && cached.expires > now()) cache.set(key, cached, client)
    return cached
  }

  /** The search for servers counts towards the deadline. */
  async #queryOnceFound(query: Query, search: Promise<readonly Server[]>): Promise<LookupResult> {
    const { deadlineMs } = this.#options
    const endsAt = performance.now() + deadlineMs
    const late = Promise.withResolvers<undefined>()
    const timer = setTimeout(late.resolve, deadlineMs, undefined)
    const servers = await Promise.race([search, late.promise])
    clearTimeout(timer)
    if (servers === undefined) return { answer: { kind: 'timeout' }, ttl: undefined }
    return this.#query(query, servers, Math.max(1, endsAt - performance.now()))
  }

  async #query(query: Query, servers: readonly Server[], deadlineMs: number): Promise<LookupResult> {
    const { retryMs, now, role } = this.#options
    if (this.#isClosed || servers.length === 0) return FAILED_LOOKUP
    const order = orderServers(servers, role === 'parent' ? this.#turn++ % servers.length : 0)
    const lookup = new Lookup(query, order, { deadlineMs, retryMs, now })
    this.#lookups.add(lookup)
    const result = await lookup.result
    this.#lookups.delete(lookup)
    return result
  }

  #cacheable(key: string, { answer, ttl }: LookupResult): CachedAnswer {
    const { now } = this.#options
    const lifetimeMs = 1_000 * getLifetime(answer, ttl, this.#options)
    return { answer, bytes: estimateBytes(key, answer), expires: now() + lifetimeMs }
  }
}
