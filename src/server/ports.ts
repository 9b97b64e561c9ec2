import { createServer } from 'node:net'
import { once } from 'node:events'
import { getHome } from '../http/service-routes.ts'
import type { Config } from './config/config.ts'
import { asError } from '../lib/errors.ts'
import { httpUrl } from '../lib/text.ts'

const ASK_TIMEOUT_MS = 2_000

/** Where this service listens, or the other one that has its port, and where its console is. */
export interface Place {
  readonly address: string
  readonly console: string
}

export class PortTaken extends Error {
  /** Where the instance of Catalejo that has the port is; undefined for another program. */
  readonly place: Place | undefined

  constructor(host: string, port: number, place: Place | undefined, cause: Error) {
    const taken =
      place === undefined
        ? `another program listens on port ${port} of ${host} (EADDRINUSE)`
        : `Catalejo already listens on ${place.address} (EADDRINUSE), with its console at ${place.console}`
    super(`${taken}; choose another one with --port, or 0 for a free one`, { cause })
    this.place = place
  }
}

/** Throws if the service could not listen: before anything is opened, so that a start that fails changes nothing. */
export async function assertPortsFree({ baseUrl, host, metricsAddress, port }: Config): Promise<void> {
  const wanted = [{ host, port }, ...(metricsAddress === undefined ? [] : [metricsAddress])]
  for (const one of wanted) {
    // Another instance may be at the address of the metrics too, but only tells where it is at its own.
    await listenOnce(one.host, one.port).catch(async (error: unknown) => {
      const cause = asError(error)
      if (!('code' in cause) || cause.code !== 'EADDRINUSE') throw cause
      const path = baseUrl === '' ? '' : new URL(baseUrl).pathname.replace(/\/$/, '')
      throw new PortTaken(one.host, one.port, await instanceAt(one.host, one.port, path), cause)
    })
  }
}

async function listenOnce(host: string, port: number): Promise<void> {
  // Not through the primary of several processes, which would keep the port.
  const server = createServer((socket) => socket.destroy()).listen({ host, port, exclusive: true })
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
}

/** Asks the program that listens whether it is Catalejo. */
async function instanceAt(host: string, port: number, path: string): Promise<Place | undefined> {
  const isWildcard = host === '0.0.0.0' || host === '::'
  const address = httpUrl(isWildcard ? 'localhost' : host, port) + path
  try {
    const response = await fetch(`${address}/`, {
      headers: { accept: 'application/json' },
      redirect: 'error',
      signal: AbortSignal.timeout(ASK_TIMEOUT_MS),
    })
    const home: unknown = await response.json()
    const isCatalejo =
      typeof home === 'object' && home !== null && 'console' in home && typeof home.console === 'string'
    return isCatalejo ? { address, console: String(home.console) } : undefined
  } catch {
    return undefined
  }
}

export const placeOf = (baseUrl: string): Place => ({ address: baseUrl, console: getHome(baseUrl).console })
