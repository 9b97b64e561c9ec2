import { Exchange, type ExchangeOptions } from './exchange.ts'
import { ServerHealth } from './server-health.ts'
import type { ServerAddress } from './servers.ts'

/** A set of servers that know the same, and what is known of them. */
export interface Upstream {
  readonly exchange: Exchange
  readonly health: ServerHealth
}

/** Where look-ups find whom to ask. */
export interface Upstreams {
  /** What is there already, else a promise of it; of undefined where it cannot be found now. Never rejects. */
  current(): Upstream | Promise<Upstream | undefined>
  close(): Promise<void>
}

export interface UpstreamOptions extends ExchangeOptions {
  /** Whether the servers take turns; else the first is asked while it answers, as resolvers are listed. */
  readonly inTurn: boolean
  readonly now: () => number
}

export function openUpstream(
  servers: readonly ServerAddress[],
  { inTurn, now, ...options }: UpstreamOptions,
): Upstream {
  return {
    exchange: new Exchange(servers, options),
    health: new ServerHealth(servers.length, now, inTurn),
  }
}

/** Always the same servers. */
export function fixedUpstream(servers: readonly ServerAddress[], options: UpstreamOptions): Upstreams {
  if (servers.length === 0) throw new RangeError('a resolver needs a server')
  const upstream = openUpstream(servers, options)
  return { current: () => upstream, close: () => upstream.exchange.close() }
}
