import type { ServerResponse } from 'node:http'
import ipaddr from 'ipaddr.js'

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

/** Aborts when the client goes away before its response was sent. The request itself does not tell once its body was read. */
export function clientAbort(response: ServerResponse): AbortSignal {
  const abort = new AbortController()
  const onClose = () => {
    if (!response.writableFinished) abort.abort()
  }
  if (response.closed) onClose()
  else response.on('close', onClose)
  return abort.signal
}
