import { getServers } from 'node:dns'
import { isIPv4, isIPv6, SocketAddress } from 'node:net'

export interface ServerAddress {
  /** Canonical text of the address, as the system reports the source of a datagram. */
  readonly address: string
  readonly family: 4 | 6
  readonly port: number
}

const DNS_PORT = 53
/** A look-up never gets to more within its deadline. */
const MAX_SERVERS = 8

/**
 * Reads `address[:port]` items, separated by commas: `192.0.2.1`, `192.0.2.1:5353`, `2001:db8::1`, `[::1]:5353`.
 * The port is 53 unless given. From 1 to 8 servers; repeated ones count once. Undefined if it is not valid.
 */
export function parseServers(text: string): readonly ServerAddress[] | undefined {
  const servers = new Map<string, ServerAddress>()
  for (const item of text.split(',')) {
    const server = parseServer(item.trim())
    if (server === undefined) return undefined
    servers.set(formatServer(server), server)
  }
  return servers.size > MAX_SERVERS ? undefined : [...servers.values()]
}

/**
 * Returns the servers that the operating system uses, or the local one if it names none, like the system's
 * resolver.
 */
export function systemServers(): readonly ServerAddress[] {
  const servers: ServerAddress[] = []
  for (const text of getServers()) {
    const server = parseServer(text)
    if (server !== undefined && servers.length < MAX_SERVERS) servers.push(server)
  }
  return servers.length > 0 ? servers : [{ address: '127.0.0.1', family: 4, port: DNS_PORT }]
}

export function formatServer({ address, family, port }: ServerAddress): string {
  return family === 6 ? `[${address}]:${port}` : `${address}:${port}`
}

const BRACKETED = /^\[(?<address>[^\]]+)\](?::(?<port>\d{1,5}))?$/
const PLAIN = /^(?<address>[\d.]+)(?::(?<port>\d{1,5}))?$/

function parseServer(text: string): ServerAddress | undefined {
  if (isIPv6(text)) return serverAt(text, undefined)
  const match = BRACKETED.exec(text) ?? PLAIN.exec(text)
  const address = match?.groups?.['address']
  if (address === undefined || isIPv6(address) !== text.startsWith('[')) return undefined
  return serverAt(address, match?.groups?.['port'])
}

function serverAt(address: string, portText: string | undefined): ServerAddress | undefined {
  const port = portText === undefined ? DNS_PORT : Number(portText)
  if (port < 1 || port > 65_535) return undefined
  if (isIPv4(address)) return { address, family: 4, port }
  if (!isIPv6(address)) return undefined
  // Keeps the zone of a link-local address, which names an interface.
  const [bare = '', ...zone] = address.split('%')
  const canonical = new SocketAddress({ address: bare, family: 'ipv6' }).address
  return { address: [canonical, ...zone].join('%'), family: 6, port }
}
