import type { ServerResponse } from 'node:http'
import ipaddr from 'ipaddr.js'
import { requestClient, type Client } from '../lib/client.ts'
import { OverloadError } from '../lib/errors.ts'
import type { Gate } from '../lib/gate.ts'

const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+)|\[([^\]]+)\]):\d+$/

/** Some proxies write the client's port into `X-Forwarded-For`: `192.0.2.1:1234`, `[2001:db8::1]:1234`. */
function withoutPort(address: string): string {
  const [, ipv4, ipv6] = WITH_PORT.exec(address) ?? []
  return ipv4 ?? ipv6 ?? address
}

/** Returns a predicate for addresses in these networks. */
export function networkMatcher(networks: readonly string[]): (address: string) => boolean {
  const ranges = networks.map((network) => {
    const [address, bits] = network.includes('/')
      ? ipaddr.parseCIDR(network)
      : [ipaddr.parse(network), undefined]
    return { address, bits: bits ?? (address.kind() === 'ipv4' ? 32 : 128) }
  })
  return (given) => {
    const text = withoutPort(given)
    if (!ipaddr.isValid(text)) return false
    // On a dual-stack socket an IPv4 client has an address such as ::ffff:192.0.2.1.
    const address = ipaddr.process(text)
    return ranges.some(
      (range) => range.address.kind() === address.kind() && address.match(range.address, range.bits),
    )
  }
}

/** Returns an address, or the IPv6 /64 that it is in, because one home or server usually has a whole /64. */
export function clientNetwork(given: string): string {
  // Fast path for IPv4.
  if (!given.includes(':')) return given
  const address = withoutPort(given)
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString()
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16))
  return `${network.join(':')}::/64`
}

/** Returns the plain address of a client, without what sockets and proxies add to it; empty if it is none. */
export function plainAddress(given: string): string {
  const address = withoutPort(given)
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : ''
}

/** The sender of a request. */
export interface Peer {
  readonly ip: string
}

/** A request whose key, if it has one, was checked. */
export interface KnownRequest extends Peer {
  /** Undefined without a key. */
  readonly identity: { readonly accountId: number } | undefined
}

/** Returns the client of a request. */
export const clientOfRequest = ({ ip, identity }: KnownRequest): Client =>
  requestClient(identity?.accountId, clientNetwork(ip))

/** Returns the client of a request without a key. @param ip its address */
export const addressClient = (ip: string): Client => requestClient(undefined, clientNetwork(ip))

/**
 * Takes the place of a response that is streamed for a while, until it closes.
 * @throws OverloadError if there is none
 */
export async function enterUntilClosed(gate: Gate, client: Client, response: ServerResponse): Promise<void> {
  const leave = await gate.enter(client)
  if (response.closed) leave()
  else response.once('close', leave)
}

/**
 * Returns a signal that aborts if the client disconnects before the response was sent. Its reason is an expected error: what it
 * interrupts is not logged.
 */
export function clientAbort(response: ServerResponse): AbortSignal {
  const abort = new AbortController()
  const onClose = () => {
    if (!response.writableFinished) abort.abort(new OverloadError())
  }
  if (response.closed) onClose()
  else response.on('close', onClose)
  return abort.signal
}
