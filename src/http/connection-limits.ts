import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { clientGroup } from './client.ts'
import { originalOf } from './replayed-connection.ts'

/** Connections accepted above the limit, to answer them with 503. */
const MAX_SURPLUS = 1_000
/** How long a surplus connection may wait with its request. */
const SURPLUS_IDLE_MS = 2_000
/** Surplus connections per client that get a response; further ones are closed without one. */
const MAX_CLIENT_SURPLUS = 16

/**
 * Returns how many connections to accept: at most half of the file descriptors, because sending a file takes two, and idle
 * connections must leave enough for the database, the image store and the decoding processes.
 */
export function maxConnectionsFor(configured: number, openFiles: number | undefined): number {
  return Math.min(configured, Math.floor((openFiles ?? Infinity) / 2))
}

/** Returns the limit of open files of the process; undefined if the system does not report it. */
export function openFilesLimit(): number | undefined {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return limit === undefined ? undefined : Number(limit)
  } catch {
    return undefined
  }
}

const surplus = new Set<Socket>()

/** Returns whether a connection is above a limit, so that its requests are rejected. */
export const isSurplus = (socket: Socket): boolean =>
  surplus.size > 0 && surplus.has(originalOf(socket) ?? socket)

export interface ConnectionLimits {
  readonly total: number
  /** Per client address. */
  readonly perClient: number
  /** Trusted proxies have no limit per client, because their connections carry requests of many clients. */
  readonly isTrusted: (address: string) => boolean
}

/** Limits the connections of a server. Some surplus ones are accepted, answered with 503, and closed. */
export function limitConnections(server: Server, { total, perClient, isTrusted }: ConnectionLimits): void {
  let open = 0
  const byClient = new Map<string, number>()
  server.maxConnections = total + Math.min(MAX_SURPLUS, Math.ceil(total / 4))
  server.on('connection', (socket: Socket) => {
    // Its socket is counted already.
    if (originalOf(socket) !== undefined) return
    open++
    socket.once('close', () => open--)
    const address = socket.remoteAddress ?? ''
    const ofClient = isTrusted(address) ? 0 : count(byClient, clientGroup(address), socket)
    if (open <= total && ofClient <= perClient) return
    if (ofClient > perClient + MAX_CLIENT_SURPLUS) {
      socket.destroy()
      return
    }
    surplus.add(socket)
    const closing = setTimeout(() => socket.destroySoon(), SURPLUS_IDLE_MS)
    socket.once('close', () => {
      clearTimeout(closing)
      surplus.delete(socket)
    })
  })
}

/** Counts a connection until it closes. Returns how many its client has now. */
function count(byClient: Map<string, number>, client: string, socket: Socket): number {
  const present = (byClient.get(client) ?? 0) + 1
  byClient.set(client, present)
  socket.once('close', () => {
    const left = (byClient.get(client) ?? 1) - 1
    if (left === 0) byClient.delete(client)
    else byClient.set(client, left)
  })
  return present
}
