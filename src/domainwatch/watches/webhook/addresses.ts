import ipaddr from 'ipaddr.js'

/** Whether an address may be connected to. */
export type MayConnect = (address: string) => boolean

/** Public, but a cloud's own machinery answers there. */
const PLATFORM = '168.63.129.16'
/** All of IPv6 that is public. */
const GLOBAL = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * Public addresses, and those of the networks that are allowed by name: what stands in the service's own network (its
 * database, other programs on the machine, a cloud's metadata) must not be asked for anything on behalf of a client.
 */
export function connectable(networks: readonly string[]): MayConnect {
  const allowed = networks.map((network) =>
    ipaddr.parseCIDR(
      network.includes('/') ? network : `${network}/${ipaddr.parse(network).kind() === 'ipv4' ? 32 : 128}`,
    ),
  )
  return (text) => {
    if (!ipaddr.isValid(text)) return false
    // IPv4 written as IPv6 is IPv4.
    const address = ipaddr.process(text)
    if (allowed.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits)))
      return true
    if (address.range() !== 'unicast' || address.toString() === PLATFORM) return false
    return address.kind() === 'ipv4' || address.match(GLOBAL)
  }
}
