import { Exchange, type ExchangeOptions } from './exchange.ts'
import { ServerHealth } from './server-health.ts'
import type { ServerAddress } from './servers.ts'

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

export function openUpstream(
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
