import type { IncomingMessage } from 'node:http'
import ipaddr from 'ipaddr.js'

/** What of a request tells where it came from. */
interface Origin {
  readonly socket: Pick<IncomingMessage['socket'], 'remoteAddress'>
  readonly headers: IncomingMessage['headers']
}

export type ClientAddress = (request: Origin) => string

/** Whether an address belongs to one of these addresses or networks. */
export function trustOf(networks: readonly string[]): (address: string) => boolean {
  const ranges = networks.map((network) => {
    const [address, bits] = network.includes('/')
      ? ipaddr.parseCIDR(network)
      : [ipaddr.parse(network), undefined]
    return { address, bits: bits ?? (address.kind() === 'ipv4' ? 32 : 128) }
  })
  return (text) => {
    if (!ipaddr.isValid(text)) return false
    // An IPv4 client of a socket that takes both kinds comes as ::ffff:192.0.2.1.
    const address = ipaddr.process(text)
    return ranges.some(
      (range) => range.address.kind() === address.kind() && address.match(range.address, range.bits),
    )
  }
}

/** The address a request came from: the nearest one, seen from here, that is no trusted proxy. */
export function clientAddress(trusted: (address: string) => boolean): ClientAddress {
  return ({ socket, headers }) => {
    let address = socket.remoteAddress ?? ''
    const forwarded = headers['x-forwarded-for']
    if (forwarded === undefined || !trusted(address)) return address
    const hops = String(forwarded).split(',')
    while (hops.length > 0 && trusted(address)) address = hops.pop()?.trim() ?? ''
    return address
  }
}

/**
 * The client that an address belongs to, as limits count clients: one home or server usually holds a whole IPv6 /64, so its
 * addresses count as one.
 */
export function clientGroup(address: string): string {
  // By far the most addresses are IPv4 in their usual form.
  if (!address.includes(':') || !ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString()
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16))
  return `${network.join(':')}::/64`
}
