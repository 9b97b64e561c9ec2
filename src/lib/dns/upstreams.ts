import { Resolver } from 'node:dns/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { Exchange, type ExchangeOptions } from './exchange.ts'
import { formatServer, type ServerAddress } from './servers.ts'

/** A set of equivalent servers, with their health. */
export interface Upstream {
  readonly exchange: Exchange
  readonly health: ServerHealth
}

/** Provides look-ups with the servers to query. */
export interface Upstreams {
  /**
   * Returns the known servers, or a promise that resolves to undefined if they cannot be found now. Never rejects.
   */
  current(): Upstream | Promise<Upstream | undefined>
  close(): Promise<void>
}

export interface UpstreamOptions extends ExchangeOptions {
  /** Whether to rotate the servers; otherwise the first is used while it answers, as for a list of resolvers. */
  readonly inTurn: boolean
  readonly now: () => number
}

function openUpstream(
  servers: readonly ServerAddress[],
  { inTurn, now, ...options }: UpstreamOptions,
): Upstream {
  return {
    exchange: new Exchange(servers, options),
    health: new ServerHealth(servers.length, now, inTurn),
  }
}

/** Returns upstreams that never change. */
export function fixedUpstream(servers: readonly ServerAddress[], options: UpstreamOptions): Upstreams {
  if (servers.length === 0) throw new RangeError('a resolver needs a server')
  const upstream = openUpstream(servers, options)
  return { current: () => upstream, close: () => upstream.exchange.close() }
}

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
  const closing = new AbortController()
  const retiring = new Set<Promise<void>>()
  let upstream: Upstream | undefined
  let addresses = ''
  let freshUntil = Number.NEGATIVE_INFINITY
  let finding: Promise<Upstream | undefined> | undefined

  async function find(): Promise<Upstream | undefined> {
    const found = await findServers(resolver, options).catch(() => undefined)
    finding = undefined
    freshUntil = now() + (found === undefined ? RETRY_MS : found.ttl * 1_000)
    if (found === undefined || closing.signal.aborted) return upstream
    const text = found.servers.map(formatServer).join()
    if (text !== addresses) {
      if (upstream !== undefined) {
        const retired = retire(upstream).finally(() => retiring.delete(retired))
        retiring.add(retired)
      }
      upstream = openUpstream(found.servers, options)
      addresses = text
    }
    return upstream
  }

  /** Closes replaced servers after the longest look-up that may still use them. */
  async function retire(old: Upstream): Promise<void> {
    await pause(deadlineMs + 1_000, undefined, { ref: false, signal: closing.signal }).catch(() => {})
    await old.exchange.close()
  }

  return {
    current() {
      if (freshUntil <= now()) finding ??= find()
      return upstream ?? finding ?? Promise.resolve(undefined)
    },
    async close() {
      closing.abort()
      resolver.cancel()
      await finding
      await Promise.all([...retiring, upstream?.exchange.close()])
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

/** How long a dead server is queried last: spares most look-ups the wait, but finds a restarted server soon. */
const DEAD_MS = 5_000
/** Weight of an answer in the moving average, as 1/n. */
const SMOOTHING = 16
const HEALTHY = Number.NEGATIVE_INFINITY

interface State {
  /** The server is queried last until then, in milliseconds of the clock; `HEALTHY` if it answered last time. */
  deadUntil: number
  lastHeard: number
  /** Moving average of its response time. */
  answerMs: number
}

/** Remembers which servers were recently silent or unreachable, so that they are queried last. Never excludes one. */
export class ServerHealth {
  readonly #states: readonly State[]
  /** The order of healthy servers, or one order for each turn. */
  readonly #orders: readonly (readonly number[])[]
  readonly #now: () => number
  #turn = 0

  /** @param inTurn each look-up starts with the next server, so that all share the load */
  constructor(count: number, now: () => number, inTurn = false) {
    this.#states = Array.from({ length: count }, () => ({
      deadUntil: HEALTHY,
      lastHeard: Number.NEGATIVE_INFINITY,
      answerMs: 0,
    }))
    const servers = this.#states.map((_, server) => server)
    this.#orders = (inTurn ? servers : [0]).map((first) => [
      ...servers.slice(first),
      ...servers.slice(0, first),
    ])
    this.#now = now
  }

  /** Returns the indices of all servers in the order to query them: as configured or in turn, dead ones last. */
  order(): readonly number[] {
    this.#turn = (this.#turn + 1) % this.#orders.length
    const order = this.#orders[this.#turn] ?? []
    if (this.#states.every(({ deadUntil }) => deadUntil === HEALTHY)) return order
    const alive = order.filter((server) => !this.isDead(server))
    const dead = order.filter((server) => !alive.includes(server))
    // One look-up tries whether a server is back; others wait for its answer.
    for (const server of alive) if (this.#states[server]?.deadUntil !== HEALTHY) this.unreachable(server)
    return [...alive, ...dead]
  }

  isDead(server: number): boolean {
    return (this.#states[server]?.deadUntil ?? HEALTHY) > this.#now()
  }

  /** @param sentAt when the query was sent, if that is certain */
  heard(server: number, sentAt?: number): void {
    const state = this.#states[server]
    if (state === undefined) return
    state.lastHeard = this.#now()
    if (sentAt !== undefined) state.answerMs += (state.lastHeard - sentAt - state.answerMs) / SMOOTHING
    state.deadUntil = HEALTHY
  }

  /** Returns how long to wait for an answer, which takes longer under load. */
  startTimeoutMs(server: number): number {
    return 2 * (this.#states[server]?.answerMs ?? 0)
  }

  /**
   * Records that an attempt sent at this time got no answer. Ignored if the server has answered others since: one
   * name may just be slow.
   */
  silentSince(server: number, sentAt: number): void {
    const state = this.#states[server]
    if (state !== undefined && state.lastHeard < sentAt) this.unreachable(server)
  }

  unreachable(server: number): void {
    const state = this.#states[server]
    if (state !== undefined) state.deadUntil = this.#now() + DEAD_MS
  }
}
