import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { connect, isIP, type Socket } from 'node:net'
import { connect as secure } from 'node:tls'
import type { MayConnect } from './addresses.ts'

/** Addresses of one host that are tried, and for how long each. */
const MAX_ADDRESSES = 4
const CONNECT_MS = 5_000

export class Forbidden extends Error {}

/** Addresses of a host name. */
export type Resolve = (host: string) => Promise<readonly string[]>

/** Asks the DNS without the system's threads, which also read files: receivers whose DNS hangs must not take them. */
const resolveHost: Resolve = async (host) => {
  const resolver = new Resolver({ timeout: 3_000, tries: 2 })
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
}

/**
 * A connection to where an address leads, if it may be connected to: what is checked is the address itself, and again
 * the one that the connection has, never a name, which may mean something else a moment later.
 * @throws Forbidden when no address is permitted; what connecting throws
 */
export async function connectTo(
  url: URL,
  mayConnect: MayConnect,
  signal: AbortSignal,
  resolve: Resolve = resolveHost,
): Promise<Socket> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const found = isIP(host) === 0 ? await abortable(resolve(host), signal) : [host]
  if (found.length === 0) throw new Error(`no address for ${host}`)
  const addresses = found.filter(mayConnect).slice(0, MAX_ADDRESSES)
  let fault: unknown = new Forbidden()
  for (const address of addresses) {
    try {
      return await open(url, host, address, mayConnect, signal)
    } catch (error) {
      if (signal.aborted) throw error
      fault = error
    }
  }
  throw fault
}

async function open(url: URL, host: string, address: string, mayConnect: MayConnect, signal: AbortSignal) {
  const isSecure = url.protocol === 'https:'
  const socket = connect(Number(url.port || (isSecure ? 443 : 80)), address)
  // Whatever becomes of it, an error of its own is no fault of the process.
  socket.on('error', () => {})
  const limit = AbortSignal.any([signal, AbortSignal.timeout(CONNECT_MS)])
  try {
    await once(socket, 'connect', { signal: limit })
    if (!mayConnect(socket.remoteAddress ?? '')) throw new Forbidden()
    if (!isSecure) return socket
    const name = isIP(host) === 0 ? { servername: host } : {}
    const tls = secure({ socket, host, ...name, ALPNProtocols: ['http/1.1'] })
    tls.on('error', () => {})
    await once(tls, 'secureConnect', { signal: limit })
    return tls
  } catch (error) {
    socket.destroy()
    throw error
  }
}

async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
