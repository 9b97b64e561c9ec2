import ipaddr from 'ipaddr.js'

/**
 * Names the client behind an address, for limits and fair shares. One home or server usually holds a whole IPv6 /64, so its
 * addresses count as one.
 */
export function addressGroup(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString()
  return parsed.parts.slice(0, 4).join(':')
}
