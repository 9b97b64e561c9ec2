import type { Answer, NameServerAnswer, RecordAnswer, ServerRole, QueryType, RecordType } from './classify.ts'
import { type Query, createQuery } from './message.ts'
import { Server, type FinalReply, orderServers, ZoneServers, type ZoneSource } from './server.ts'
import type { ServerAddress } from './servers.ts'

export interface CachedAnswer {
  readonly answer: Answer
  /** Estimated from the characters of the entry plus a fixed part. */
  readonly bytes: number
  /** In milliseconds of the clock of the resolver. */
  readonly expires: number
}

/** Estimated size of an entry without its texts. */
const ENTRY_BYTES = 300

/** Maximum lifetimes of answers, in seconds. */
interface CacheLimits {
  readonly maxTtl: number
  readonly maxNegativeTtl: number
  /** Lifetime of failures (RFC 9520): enough to stop a storm of retries. */
  readonly failureTtl: number
}

/**
 * Returns how long to cache an answer, in seconds.
 * @param ttl seconds, uncapped; undefined for a failure
 */
function getLifetime({ kind }: Answer, ttl: number | undefined, limits: CacheLimits): number {
  if (ttl === undefined) return kind === 'overloaded' ? 0 : limits.failureTtl
  const isPositive = kind === 'found' || kind === 'records'
  return Math.min(ttl, isPositive ? limits.maxTtl : limits.maxNegativeTtl)
}

interface LookupResult {
  readonly answer: Answer
  /** Seconds, uncapped; undefined for a failure. */
  readonly ttl: number | undefined
}

const MAX_ATTEMPTS = 8

const FAILED_LOOKUP: LookupResult = { answer: { kind: 'failed' }, ttl: undefined }

/**
 * Starts a look-up over several servers, in this order. Queries the next server if one fails or stays silent, and still accepts a
 * late answer; each attempt has its own id. The first conclusion wins.
 * @returns a promise that never rejects, and a function that ends the look-up now, as a failure
 */
function startLookup(
  query: Query,
  servers: readonly Server[],
  { deadlineMs, retryMs, now }: Pick<Required<ResolverOptions>, 'deadlineMs' | 'retryMs' | 'now'>,
): { readonly result: Promise<LookupResult>; readonly abort: () => void } {
  const { promise: result, resolve } = Promise.withResolvers<LookupResult>()
  /** How servers failed. */
  const failures = new Map<Server, 'refused' | 'failed' | 'unreachable'>()
  const cancels: (() => void)[] = []
  const endsAt = performance.now() + deadlineMs
  let timer: NodeJS.Timeout | undefined
  let tries = 0
  ask()
  return { result, abort: () => finish(FAILED_LOOKUP) }

  function ask(): void {
    const round = Math.floor(tries / servers.length)
    const server = nextServer()
    if (server === undefined) return wait(Number.POSITIVE_INFINITY, () => undefined)
    const sentAt = now()
    cancels.push(server.ask(query, (reply) => settle(server, reply)))
    wait(retryMs * 2 ** round, () => server.silentSince(sentAt))
  }

  /** Cycles through the servers, skipping those that have failed. */
  function nextServer(): Server | undefined {
    for (let skipped = 0; skipped < servers.length && tries < MAX_ATTEMPTS; skipped++) {
      const server = servers[tries++ % servers.length]
      if (server !== undefined && !failures.has(server)) return server
    }
    return undefined
  }

  /** Waits until the latest attempt counts as unanswered, and then asks again, unless the deadline has come. */
  function wait(delayMs: number, unanswered: () => void): void {
    const remaining = Math.max(0, endsAt - performance.now())
    clearTimeout(timer)
    const onSilence = () => {
      unanswered()
      if (delayMs >= remaining) giveUp()
      else ask()
    }
    timer = setTimeout(onSilence, Math.min(delayMs, remaining))
  }

  function settle(server: Server, reply: FinalReply): void {
    if (reply.kind === 'answer') return finish(reply)
    // Both of two attempts at a server that became unreachable report it.
    if (failures.has(server)) return
    failures.set(server, reply.kind)
    if (servers.every((other) => failures.has(other))) giveUp()
    else ask()
  }

  /**
   * SERVFAIL takes precedence over silence, because that server tried and could not resolve the name. Silence takes precedence
   * over a refusal, which is about the client and not about the name. An unreachable server counts only if there is no other.
   */
  function giveUp(): void {
    const kinds = new Set(failures.values())
    const isSilent = !kinds.has('failed') && failures.size < servers.length
    const isRefused = !kinds.has('failed') && kinds.has('refused')
    finish({ answer: { kind: isSilent ? 'timeout' : isRefused ? 'refused' : 'failed' }, ttl: undefined })
  }

  /** Cancelled attempts settle no more. */
  function finish(conclusion: LookupResult): void {
    clearTimeout(timer)
    for (const cancel of cancels) cancel()
    resolve(conclusion)
  }
}

export interface ResolverOptions extends Partial<CacheLimits> {
  /** One at least, or where to find them. */
  readonly servers: readonly ServerAddress[] | ZoneSource
  /**
   * `resolver` (default): recursive resolvers in order of preference. `parent`: authoritative servers of the parent zone, which are
   * used in turn and whose delegation is the answer.
   */
  readonly role?: ServerRole
  /** May be shared with resolvers of other types. */
  readonly cache: {
    get(key: string): CachedAnswer | undefined
    set(key: string, cached: CachedAnswer): unknown
  }
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
  /** End the look-ups in flight. */
  readonly #aborts = new Set<() => void>()
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
   */
  async nameServers(name: string): Promise<NameServerAnswer> {
    const { answer } = await this.resolve(name, 'ns')
    // The query type determines the kind of answer, so here and below the other kind never occurs.
    return answer.kind === 'records' ? FAILED : answer
  }

  /** Looks up the RRset of another type. Needs resolvers: servers of the parent zone only know delegations, and it fails. */
  async records(name: string, type: RecordType): Promise<RecordAnswer> {
    const { answer } = await this.resolve(name, type)
    return answer.kind === 'found' ? FAILED : answer
  }

  /** Looks up either, and returns the answer with the end of its lifetime. */
  resolve(name: string, type: QueryType): CachedAnswer | Promise<CachedAnswer> {
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
    const answer = this.#lookUp(key, query)
    this.#inFlight.set(key, answer)
    return answer
  }

  stats(): ResolverStats {
    return { hits: this.#hits, misses: this.#misses, inFlight: this.#inFlight.size }
  }

  /** Ends look-ups in flight, and later ones, as `failed`. Afterwards no socket and no timer is open. */
  close(): void {
    this.#isClosed = true
    for (const abort of this.#aborts) abort()
  }

  async #lookUp(key: string, query: Query): Promise<CachedAnswer> {
    const { deadlineMs, cache, now } = this.#options
    const endsAt = performance.now() + deadlineMs
    const known = this.#servers instanceof ZoneServers ? this.#servers.get() : this.#servers
    // The search for servers counts towards the deadline.
    const servers = known instanceof Promise ? await unlessLate(known, deadlineMs) : known
    const result =
      servers === undefined
        ? ({ answer: { kind: 'timeout' }, ttl: undefined } as const)
        : await this.#query(query, servers, Math.max(1, endsAt - performance.now()))
    const cached = this.#cacheable(key, result)
    this.#inFlight.delete(key)
    if (!this.#isClosed && cached.expires > now()) cache.set(key, cached)
    return cached
  }

  async #query(query: Query, servers: readonly Server[], deadlineMs: number): Promise<LookupResult> {
    if (this.#isClosed || servers.length === 0) return FAILED_LOOKUP
    const first = this.#options.role === 'parent' ? this.#turn++ % servers.length : 0
    const { result, abort } = startLookup(query, orderServers(servers, first), {
      ...this.#options,
      deadlineMs,
    })
    this.#aborts.add(abort)
    return result.finally(() => this.#aborts.delete(abort))
  }

  #cacheable(key: string, { answer, ttl }: LookupResult): CachedAnswer {
    const { now } = this.#options
    const lifetimeMs = 1_000 * getLifetime(answer, ttl, this.#options)
    const bytes = ENTRY_BYTES + key.length + JSON.stringify(answer).length
    return { answer, bytes, expires: now() + lifetimeMs }
  }
}

/** Returns what a promise resolves to; undefined if it has not after some milliseconds. */
async function unlessLate<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>()
  const timer = setTimeout(late.resolve, ms, undefined)
  const value = await Promise.race([promise, late.promise])
  clearTimeout(timer)
  return value
}
