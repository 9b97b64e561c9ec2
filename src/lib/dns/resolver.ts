import type { Answer, NameServerAnswer, RecordAnswer } from './classify.ts'
import { Lookup, type LookupResult } from './lookup.ts'
import { type QueryType, type RecordType, textLength } from './record-data.ts'
import type { ServerAddress } from './servers.ts'
import { fixedUpstream, zoneUpstream, type Upstream, type Upstreams } from './upstreams.ts'
import { createQuery, type Query } from './wire.ts'

export interface ResolverOptions extends Partial<CacheLimits> {
  /** Resolvers in order of preference; with `zone`, its authoritative servers, used in turn. At least one. */
  readonly servers: readonly ServerAddress[]
  /** Query the authoritative servers of the parent zone, and read the delegation. */
  readonly zone?: ZoneMode
  /** May be shared with resolvers of other types. */
  readonly cache: AnswerStore
  /** Maximum duration of a look-up, in milliseconds. */
  readonly deadlineMs?: number
  /** Silence after which the next server is queried as well, in milliseconds. */
  readonly retryMs?: number
  /** Maximum number of concurrent look-ups; others are `overloaded`. */
  readonly maxInFlight?: number
  /** UDP sockets, and so source ports, per server. */
  readonly socketsPerServer?: number
  /** Whether many concurrent queries share a TCP connection per server; if not, TCP is used for truncated answers only. */
  readonly pipelines?: boolean
  /** A monotonic clock for TTLs, in milliseconds. */
  readonly now?: () => number
}

/** `given`: `servers` are those of the zone. `found`: `servers` are resolvers, used to find those of the zone, on `port` (default 53). */
type ZoneMode =
  { readonly kind: 'given' } | { readonly kind: 'found'; readonly name: string; readonly port?: number }

export interface ResolverStats {
  readonly hits: number
  readonly misses: number
  /** Look-ups that joined an equal one in flight. */
  readonly coalesced: number
  readonly overloaded: number
  readonly inFlight: number
}

export const createResolver = (options: ResolverOptions): Resolver => new Resolver(options)

const FAILED = { kind: 'failed' } as const

/** Caches answers; equal look-ups in flight share one query. */
export class Resolver {
  readonly #options: ResolverOptions
  readonly #deadlineMs: number
  readonly #now: () => number
  readonly #upstreams: Upstreams
  readonly #cache: AnswerCache
  readonly #answers = new Map<string, Promise<Answer>>()
  readonly #lookups = new Set<Lookup>()
  readonly #counts = { hits: 0, misses: 0, coalesced: 0, overloaded: 0 }
  #closing: Promise<void> | undefined

  constructor(options: ResolverOptions) {
    const { servers, zone, deadlineMs = 3_000, socketsPerServer = 16, pipelines = true } = options
    const { maxTtl = 3_600, maxNegativeTtl = 300, failureTtl = 2 } = options
    this.#options = options
    this.#deadlineMs = deadlineMs
    this.#now = options.now ?? (() => performance.now())
    const upstreamOptions = { socketsPerServer, pipelines, inTurn: zone !== undefined, now: this.#now }
    this.#upstreams =
      zone?.kind === 'found'
        ? zoneUpstream({
            ...upstreamOptions,
            zone: zone.name,
            resolvers: servers,
            port: zone.port,
            deadlineMs,
          })
        : fixedUpstream(servers, upstreamOptions)
    this.#cache = new AnswerCache(options.cache, { maxTtl, maxNegativeTtl, failureTtl }, this.#now)
  }

  /**
   * Looks up name servers. Settles within the deadline and never rejects.
   * @param name lower case, A-label form, no trailing dot
   * @param client the answer counts for it in the cache
   */
  async nameServers(name: string, client = ''): Promise<NameServerAnswer> {
    const answer = await this.#get(name, 'ns', client)
    // The query type determines the kind of answer, so here and below the other kind never occurs.
    return answer.kind === 'records' ? FAILED : answer
  }

  /** Looks up the RRset of another type. Needs resolvers: with `zone`, servers only know delegations, and it fails. */
  async records(name: string, type: RecordType, client = ''): Promise<RecordAnswer> {
    const answer = await this.#get(name, type, client)
    return answer.kind === 'found' ? FAILED : answer
  }

  stats(): ResolverStats {
    return { ...this.#counts, inFlight: this.#answers.size }
  }

  /** Ends look-ups in flight, and later ones, as `failed`. Afterwards no socket and no timer is open. */
  close(): Promise<void> {
    this.#closing ??= this.#shutDown()
    return this.#closing
  }

  #get(name: string, type: QueryType, client: string): Answer | Promise<Answer> {
    const { maxInFlight = 4_096, zone } = this.#options
    if (this.#closing !== undefined) return FAILED
    const key = `${type} ${name}`
    const cached = this.#cache.get(key)
    if (cached !== undefined) {
      this.#counts.hits++
      return cached
    }
    const inFlight = this.#answers.get(key)
    if (inFlight !== undefined) {
      this.#counts.coalesced++
      return inFlight
    }
    this.#counts.misses++
    const query = createQuery(name, type, zone === undefined ? 'resolver' : 'parent')
    if (query === undefined) return FAILED
    if (this.#answers.size >= maxInFlight) {
      this.#counts.overloaded++
      return { kind: 'overloaded' }
    }
    const answer = this.#lookUp(key, query, client)
    this.#answers.set(key, answer)
    return answer
  }

  async #lookUp(key: string, query: Query, client: string): Promise<Answer> {
    const upstream = this.#upstreams.current()
    const { answer, ttl } = await (upstream instanceof Promise
      ? this.#queryOnceFound(query, upstream)
      : this.#query(query, upstream, this.#deadlineMs))
    this.#answers.delete(key)
    if (this.#closing === undefined) this.#cache.set(key, answer, ttl, client)
    return answer
  }

  /** The search for servers counts towards the deadline. */
  async #queryOnceFound(query: Query, search: Promise<Upstream | undefined>): Promise<LookupResult> {
    const endsAt = performance.now() + this.#deadlineMs
    const late = Promise.withResolvers<'late'>()
    const timer = setTimeout(late.resolve, this.#deadlineMs, 'late')
    const upstream = await Promise.race([search, late.promise])
    clearTimeout(timer)
    if (upstream === 'late') return { answer: { kind: 'timeout' }, ttl: undefined }
    if (upstream === undefined || this.#closing !== undefined) return { answer: FAILED, ttl: undefined }
    return this.#query(query, upstream, Math.max(1, endsAt - performance.now()))
  }

  async #query(query: Query, upstream: Upstream, deadlineMs: number): Promise<LookupResult> {
    const { retryMs = 400 } = this.#options
    const lookup = new Lookup(query, upstream, { deadlineMs, retryMs, now: this.#now })
    this.#lookups.add(lookup)
    const result = await lookup.result
    this.#lookups.delete(lookup)
    return result
  }

  async #shutDown(): Promise<void> {
    for (const lookup of this.#lookups) lookup.abort()
    this.#options.cache.clear()
    await this.#upstreams.close()
  }
}

/** Keeps answers. It decides which to evict, and how much of it a client may fill. */
export interface AnswerStore {
  get(key: string): CachedAnswer | undefined
  set(key: string, cached: CachedAnswer, client: string): void
  clear(): void
}

export interface CachedAnswer {
  readonly answer: Answer
  /** Estimated from the characters of the entry plus a fixed part. */
  readonly bytes: number
  /** In milliseconds of the clock of the resolver. */
  readonly expires: number
}

export interface CacheLimits {
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

/** A cache of answers by key, with TTLs. */
export class AnswerCache {
  readonly #store: AnswerStore
  readonly #limits: CacheLimits
  readonly #now: () => number

  /** @param now a monotonic clock in milliseconds */
  constructor(store: AnswerStore, limits: CacheLimits, now: () => number) {
    this.#store = store
    this.#limits = limits
    this.#now = now
  }

  get(key: string): Answer | undefined {
    const cached = this.#store.get(key)
    return cached !== undefined && this.#now() < cached.expires ? cached.answer : undefined
  }

  /** @param ttl seconds, uncapped; undefined for a failure */
  set(key: string, answer: Answer, ttl: number | undefined, client: string): void {
    const seconds = this.#lifetime(answer, ttl ?? 0)
    if (seconds === 0) return
    this.#store.set(
      key,
      { answer, bytes: bytesOf(key, answer), expires: this.#now() + seconds * 1_000 },
      client,
    )
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

function bytesOf(key: string, answer: Answer): number {
  let bytes = ENTRY_BYTES + key.length
  if (answer.kind === 'found') for (const server of answer.servers) bytes += VALUE_BYTES + server.length
  if (answer.kind === 'records') for (const value of answer.records) bytes += VALUE_BYTES + textLength(value)
  return bytes
}
