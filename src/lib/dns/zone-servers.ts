import { Resolver } from 'node:dns/promises'
import { formatServer, type ServerAddress } from './servers.ts'
import { openUpstream, type Upstream, type UpstreamOptions, type Upstreams } from './upstream.ts'

export interface ZoneOptions extends UpstreamOptions {
  /** Whose servers are asked. */
  readonly zone: string
  /** By which those are found. */
  readonly resolvers: readonly ServerAddress[]
  /** Of the zone's servers; 53 but in tests. */
  readonly port: number | undefined
  /** Longest duration of a look-up, after which nobody uses servers that are no longer the zone's. Milliseconds. */
  readonly deadlineMs: number
}

/** A TLD has a dozen servers at most; more than this serve nobody. */
const MAX_SERVERS = 16
/** For how long they are believed, in seconds, whatever the DNS says: servers of a TLD stay for years. */
const MIN_TTL = 60
const MAX_TTL = 86_400
/** Before it is tried again what failed, in milliseconds. Known servers go on being asked meanwhile. */
const RETRY_MS = 5_000
/** Of one question to one resolver, in milliseconds, and how often each is asked. */
const RESOLVER_TIMEOUT_MS = 1_000
const RESOLVER_TRIES = 2

interface Found {
  readonly servers: readonly ServerAddress[]
  /** Seconds. */
  readonly ttl: number
}

/** The servers of a zone, found by asking resolvers, kept for as long as the DNS allows, and found anew behind the look-ups. */
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

  /** Look-ups that have begun still ask the old servers. */
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

/** @throws when there is none */
async function findServers(resolver: Resolver, { zone, port = 53 }: ZoneOptions): Promise<Found> {
  const names = (await resolver.resolveNs(zone)).toSorted().slice(0, MAX_SERVERS)
  const ofNames = async (family: 4 | 6) =>
    (await Promise.all(names.map((name) => addressesOf(resolver, name, family)))).flat()
  // By IPv6 only where there is nothing else: many machines have addresses of it that lead nowhere.
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
  const asked = family === 4 ? resolver.resolve4(name, { ttl: true }) : resolver.resolve6(name, { ttl: true })
  // One that cannot be found leaves the others.
  const records = await asked.catch(() => [])
  return records.map(({ address, ttl }) => ({ address, ttl, family }))
}
