import { Resolver } from 'node:dns/promises'
import { formatServer, type ServerAddress } from './servers.ts'
import { openUpstream, type Upstream, type UpstreamOptions, type Upstreams } from './upstream.ts'

export interface ZoneOptions extends UpstreamOptions {
  /** The zone whose servers to find. */
  readonly zone: string
  /** Used to find them. */
  readonly resolvers: readonly ServerAddress[]
  /** Port of the zone's servers; 53 except in tests. */
  readonly port: number | undefined
  /** Maximum duration of a look-up, after which replaced servers are no longer in use. Milliseconds. */
  readonly deadlineMs: number
}

/** TLDs have about a dozen servers; more would not help. */
const MAX_SERVERS = 16
/** Limits on the TTL, in seconds, whatever the DNS says: servers of a TLD stay for years. */
const MIN_TTL = 60
const MAX_TTL = 86_400
/** Delay before a failed refresh is retried, in milliseconds. Known servers stay in use. */
const RETRY_MS = 5_000
/** Timeout of one query to a resolver, in milliseconds, and number of attempts. */
const RESOLVER_TIMEOUT_MS = 1_000
const RESOLVER_TRIES = 2

interface Found {
  readonly servers: readonly ServerAddress[]
  /** Seconds. */
  readonly ttl: number
}

/** Finds the servers of a zone through resolvers, caches them for their TTL, and refreshes them in the background. */
export function zoneUpstream(options: ZoneOptions): Upstreams {
  const { deadlineMs, now } = options
  const resolver = new Resolver({
    timeout: RESOLVER_TIMEOUT_MS,
    tries: RESOLVER_TRIES,
    maxTimeout: RESOLVER_TIMEOUT_MS,
  })
  resolver.setServers(options.resolvers.map(formatServer))
  const closing = new Set<Promise<void>>()
  const retiring = new Map<Upstream, NodeJS.Timeout>()
  let upstream: Upstream | undefined
  let addresses = ''
  let freshUntil = Number.NEGATIVE_INFINITY
  let finding: Promise<Upstream | undefined> | undefined
  let isClosed = false

  async function find(): Promise<Upstream | undefined> {
    const found = await findServers(resolver, options).catch(() => undefined)
    finding = undefined
    freshUntil = now() + (found === undefined ? RETRY_MS : found.ttl * 1_000)
    if (found === undefined || isClosed) return upstream
    const text = found.servers.map(formatServer).join()
    if (text !== addresses) {
      if (upstream !== undefined) retire(upstream)
      upstream = openUpstream(found.servers, options)
      addresses = text
    }
    return upstream
  }

  /** Closes replaced servers after the longest look-up that may still use them. */
  function retire(old: Upstream): void {
    const close = () => {
      retiring.delete(old)
      const closed = old.exchange.close().finally(() => closing.delete(closed))
      closing.add(closed)
    }
    retiring.set(old, setTimeout(close, deadlineMs + 1_000).unref())
  }

  return {
    current() {
      if (freshUntil <= now()) finding ??= find()
      return upstream ?? finding ?? Promise.resolve(undefined)
    },
    async close() {
      isClosed = true
      resolver.cancel()
      await finding
      for (const [old, timer] of retiring) {
        clearTimeout(timer)
        closing.add(old.exchange.close())
      }
      await Promise.all([...closing, upstream?.exchange.close()])
    },
  }
}

/** @throws if there is none */
async function findServers(resolver: Resolver, { zone, port = 53 }: ZoneOptions): Promise<Found> {
  const names = (await resolver.resolveNs(zone)).toSorted().slice(0, MAX_SERVERS)
  const ofNames = async (family: 4 | 6) =>
    (await Promise.all(names.map((name) => addressesOf(resolver, name, family)))).flat()
  // IPv6 only if there is nothing else: many machines have IPv6 addresses without connectivity.
  const records = await ofNames(4).then((found) => (found.length > 0 ? found : ofNames(6)))
  const servers = new Map(records.map(({ address, family }) => [address, { address, family, port }] as const))
  if (servers.size === 0) throw new Error(`no address of a server of ${zone}`)
  const ttl = Math.min(...records.map((record) => record.ttl))
  return {
    servers: [...servers.values()].slice(0, MAX_SERVERS),
    ttl: Math.min(Math.max(ttl, MIN_TTL), MAX_TTL),
  }
}

async function addressesOf(resolver: Resolver, name: string, family: 4 | 6) {
  const answers =
    family === 4 ? resolver.resolve4(name, { ttl: true }) : resolver.resolve6(name, { ttl: true })
  // A server whose address cannot be found does not affect the others.
  const records = await answers.catch(() => [])
  return records.map(({ address, ttl }) => ({ address, ttl, family }))
}
