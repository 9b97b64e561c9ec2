import { AnswerCache } from './cache.ts'
import type { CacheLimits } from './cache.ts'
import { Exchange } from './exchange.ts'
import { Lookup } from './lookup.ts'
import type { NameServerAnswer } from './outcomes.ts'
import { ServerHealth } from './server-health.ts'
import type { ServerAddress } from './servers.ts'
import { nameServerQuery } from './wire.ts'
import type { Query } from './wire.ts'

export interface ResolverOptions extends Partial<CacheLimits> {
  /** At least one; asked in this order. */
  readonly servers: readonly ServerAddress[]
  /** Longest duration of a look-up in all, in milliseconds. */
  readonly deadlineMs?: number
  /** Silence after which the next server is asked as well, in milliseconds. */
  readonly retryMs?: number
  /** Look-ups under way at once; past it the outcome is `overloaded`. */
  readonly maxInFlight?: number
  /** UDP sockets, and so source ports, in use at a time towards each server. */
  readonly socketsPerServer?: number
  /** Milliseconds on any clock that does not go back; by it answers grow old. */
  readonly now?: () => number
}

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

interface Flight {
  readonly lookup: Lookup
  readonly answer: Promise<NameServerAnswer>
}

const FAILED = Promise.resolve<NameServerAnswer>({ kind: 'failed' })

export function createResolver(options: ResolverOptions): Resolver {
  const { servers, deadlineMs = 3_000, retryMs = 400, maxInFlight = 1_024, socketsPerServer = 16 } = options
  if (servers.length === 0) throw new RangeError('a resolver needs a server')
  const now = options.now ?? (() => performance.now())
  const { maxBytes = 16 * 2 ** 20, maxTtl = 3_600, maxNegativeTtl = 300, failureTtl = 2 } = options
  const cache = new AnswerCache({ maxBytes, maxTtl, maxNegativeTtl, failureTtl }, now)
  const health = new ServerHealth(servers.length, now)
  const exchange = new Exchange(servers, socketsPerServer)
  const settings = { deadlineMs, retryMs, now }
  const flights = new Map<string, Flight>()
  const counts = { hits: 0, misses: 0, coalesced: 0, overloaded: 0 }
  let closing: Promise<void> | undefined

  function fly(query: Query): Promise<NameServerAnswer> {
    const { promise, resolve } = Promise.withResolvers<NameServerAnswer>()
    const lookup = new Lookup(query, exchange, health, settings, (result) => {
      flights.delete(query.name)
      if (closing === undefined) cache.set(query.name, result)
      resolve(result.answer)
    })
    flights.set(query.name, { lookup, answer: promise })
    return promise
  }

  async function shutDown(): Promise<void> {
    for (const { lookup } of flights.values()) lookup.abort()
    cache.clear()
    await exchange.close()
  }

  return {
    nameServers(name) {
      if (closing !== undefined) return FAILED
      const cached = cache.get(name)
      if (cached !== undefined) {
        counts.hits++
        return Promise.resolve(cached)
      }
      const flight = flights.get(name)
      if (flight !== undefined) {
        counts.coalesced++
        return flight.answer
      }
      counts.misses++
      const query = nameServerQuery(name)
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
