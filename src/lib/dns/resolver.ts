import type { CacheLimits } from './cache.ts'
import { CachedLookups, type LookupCounts } from './cached-lookups.ts'
import type { Answer, NameServerAnswer, RecordAnswer } from './outcomes.ts'
import type { RecordType } from './record-data.ts'
import type { ServerAddress } from './servers.ts'
import { fixedUpstream } from './upstream.ts'
import { createQuery } from './wire.ts'
import { zoneUpstream } from './zone-servers.ts'

export interface ResolverOptions extends Partial<CacheLimits> {
  /** Resolvers in order of preference; with `zone`, its authoritative servers, used in turn. At least one. */
  readonly servers: readonly ServerAddress[]
  /** Query the authoritative servers of the parent zone, and read the delegation. */
  readonly zone?: ZoneMode
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
  readonly cached: number
}

export interface Resolver {
  /** Looks up name servers. `name`: lower case, A-label form, no trailing dot. Settles within the deadline and never rejects. */
  nameServers(name: string): Promise<NameServerAnswer>
  /** Looks up the RRset of another type. Needs resolvers: with `zone`, servers only know delegations, and it fails. */
  records(name: string, type: RecordType): Promise<RecordAnswer>
  stats(): ResolverStats
  /** Ends look-ups in flight, and later ones, as `failed`. Afterwards no socket and no timer is open. */
  close(): Promise<void>
}

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
  const upstreamOptions = { socketsPerServer, pipelines, inTurn: zone !== undefined, now }
  const upstreams =
    zone?.kind === 'found'
      ? zoneUpstream({ ...upstreamOptions, zone: zone.name, resolvers: servers, port: zone.port, deadlineMs })
      : fixedUpstream(servers, upstreamOptions)
  const role = zone === undefined ? 'resolver' : 'parent'
  const counts: LookupCounts = { hits: 0, misses: 0, coalesced: 0, overloaded: 0, inFlight: 0 }
  const shared = {
    upstreams,
    settings: { deadlineMs, retryMs, now },
    limits: { maxBytes, maxTtl, maxNegativeTtl, failureTtl },
    maxInFlight,
    counts,
  }
  const nameServers = new CachedLookups<NameServerAnswer>({ ...shared, narrow: narrowToNameServers })
  // Most instances never look up other types, and a cache takes memory from its creation.
  let records: CachedLookups<RecordAnswer> | undefined
  let closing: Promise<void> | undefined

  async function shutDown(): Promise<void> {
    nameServers.close()
    records?.close()
    await upstreams.close()
  }

  return {
    nameServers: (name) => nameServers.get(name, () => createQuery(name, 'ns', role)),
    records(name, type) {
      if (closing !== undefined) return Promise.resolve({ kind: 'failed' })
      records ??= new CachedLookups<RecordAnswer>({ ...shared, narrow: narrowToRecords })
      return records.get(`${type} ${name}`, () => createQuery(name, type, role))
    },
    stats: () => ({ ...counts, cached: nameServers.cached + (records?.cached ?? 0) }),
    close() {
      closing ??= shutDown()
      return closing
    },
  }
}

const FAILED = { kind: 'failed' } as const

/** The query type determines the kind of answer, so these never meet the other kind. */
function narrowToNameServers(answer: Answer): NameServerAnswer {
  return answer.kind === 'records' ? FAILED : answer
}

function narrowToRecords(answer: Answer): RecordAnswer {
  return answer.kind === 'found' ? FAILED : answer
}
