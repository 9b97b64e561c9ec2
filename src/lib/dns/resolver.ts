import { AnswerCache } from './cache.ts'
import type { CacheLimits } from './cache.ts'
import { Flight, Flights } from './flights.ts'
import type { LookupResult } from './lookup.ts'
import type { NameServerAnswer } from './outcomes.ts'
import type { ServerAddress } from './servers.ts'
import { nameServerQuery } from './wire.ts'
import { fixedUpstream, type Upstream } from './upstream.ts'
import type { Query } from './wire.ts'
import { Waits } from './waits.ts'
import { zoneUpstream } from './zone-servers.ts'

export interface ResolverOptions extends Partial<CacheLimits> {
  /** Resolvers, asked in this order; or with `zone` its own servers, asked in turn. At least one. */
  readonly servers: readonly ServerAddress[]
  /** Ask the servers of the zone above the names, and read the delegation. */
  readonly zone?: ZoneMode
  /** Longest duration of a look-up in all, in milliseconds. */
  readonly deadlineMs?: number
  /** Silence after which the next server is asked as well, in milliseconds. */
  readonly retryMs?: number
  /** Look-ups under way at once; past it the outcome is `overloaded`. */
  readonly maxInFlight?: number
  /** UDP sockets, and so source ports, in use at a time towards each server. */
  readonly socketsPerServer?: number
  /** Whether much is asked over one TCP connection to each server that takes it; else TCP is for truncated answers. */
  readonly pipelines?: boolean
  /** Milliseconds on any clock that does not go back; by it answers grow old. */
  readonly now?: () => number
}

/** `found`: the servers given are resolvers, by which the zone's own are found, on this port (53 but in tests). */
type ZoneMode =
  { readonly kind: 'given' } | { readonly kind: 'found'; readonly name: string; readonly port?: number }

export interface ResolverStats {
  readonly hits: number
  readonly misses: number
  /** Questions that joined an equal one in flight. */
  readonly coalesced: number
  readonly overloaded: number
  readonly inFlight: number
  readonly cached: number
}

export interface Resolver {
  /** `name`: lower case, A-label form, no trailing dot. Settles within the deadline and never rejects. */
  nameServers(name: string): Promise<NameServerAnswer>
  stats(): ResolverStats
  /** Look-ups under way end as `failed`, and so do later ones. Afterwards no socket and no timer is left. */
  close(): Promise<void>
}

const FAILED = Promise.resolve<NameServerAnswer>({ kind: 'failed' })

export function createResolver(options: ResolverOptions): Resolver {
  const {
    servers,
    zone,
    deadlineMs = 3_000,
    retryMs = 400,
    maxInFlight = 4_096,
    socketsPerServer = 16,
    pipelines = true,
  } = options
  const now = options.now ?? (() => performance.now())
  const { maxBytes = 16 * 2 ** 20, maxTtl = 3_600, maxNegativeTtl = 300, failureTtl = 2 } = options
  const cache = new AnswerCache({ maxBytes, maxTtl, maxNegativeTtl, failureTtl }, now)
  const upstreamOptions = { socketsPerServer, pipelines, inTurn: zone !== undefined, now }
  const upstreams =
    zone?.kind === 'found'
      ? zoneUpstream({ ...upstreamOptions, zone: zone.name, resolvers: servers, port: zone.port, deadlineMs })
      : fixedUpstream(servers, upstreamOptions)
  const asked = zone === undefined ? 'resolver' : 'parent'
  const settings = { deadlineMs, retryMs, waits: new Waits(), now }
  const flights = new Flights()
  const counts = { hits: 0, misses: 0, coalesced: 0, overloaded: 0 }
  let closing: Promise<void> | undefined

  function landed(flight: Flight, result: LookupResult): void {
    flights.delete(flight)
    if (closing === undefined) cache.set(flight.name, result)
  }

  function fly(query: Query): Promise<NameServerAnswer> {
    const flight = new Flight(query.name, landed)
    flights.add(flight)
    const upstream = upstreams.current()
    if (upstream instanceof Promise) void startLater(flight, query, upstream)
    else flight.start(query, upstream, settings)
    return flight.answer
  }

  /** The search for servers counts towards the deadline. */
  async function startLater(flight: Flight, query: Query, upstream: Promise<Upstream | undefined>) {
    const endsAt = performance.now() + deadlineMs
    const timer = setTimeout(() => flight.end('timeout'), deadlineMs)
    const found = await upstream
    clearTimeout(timer)
    if (found === undefined) flight.end('failed')
    else flight.start(query, found, { ...settings, deadlineMs: Math.max(1, endsAt - performance.now()) })
  }

  async function shutDown(): Promise<void> {
    for (const flight of flights.all()) flight.end('failed')
    cache.clear()
    await upstreams.close()
  }

  return {
    nameServers(name) {
      if (closing !== undefined) return FAILED
      const cached = cache.get(name)
      if (cached !== undefined) {
        counts.hits++
        return Promise.resolve(cached)
      }
      const flight = flights.find(name)
      if (flight !== undefined) {
        counts.coalesced++
        return flight.answer
      }
      counts.misses++
      const query = nameServerQuery(name, asked)
      if (query === undefined) return FAILED
      if (flights.size >= maxInFlight) {
        counts.overloaded++
        return Promise.resolve({ kind: 'overloaded' })
      }
      return fly(query)
    },
    stats: () => ({ ...counts, inFlight: flights.size, cached: cache.size }),
    close() {
      closing ??= shutDown()
      return closing
    },
  }
}
