import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { clientGroup } from './client.ts'

/** Past the bound so many more are open for as long as it takes to tell them to come back. */
const SURPLUS = 1_000
/** A connection past the bound that asks for nothing is closed after this time. */
const SURPLUS_IDLE_MS = 2_000
/** Past the limit of its client so many more may be told so; further ones are closed without a word. */
const CLIENT_SURPLUS = 16

/**
 * Clients may take half of the files that the process may open: one that is sent a file needs two, and the database, the
 * image store and the decoding processes must not go without because of connections on which nothing happens.
 */
export function connectionBound(most: number, openFiles: number | undefined): number {
  return Math.min(most, Math.floor((openFiles ?? Infinity) / 2))
}

/** How many files the process may open; undefined where the system does not tell. */
export function openFilesLimit(): number | undefined {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return limit === undefined ? undefined : Number(limit)
  } catch {
    return undefined
  }
}

const surplus = new Set<Socket>()

/** Whether a connection is past a limit of its server, so that each request on it is refused. */
export const isSurplus = (socket: Socket): boolean => surplus.size > 0 && surplus.has(socket)

export interface ConnectionLimits {
  readonly total: number
  /** Of one client address. */
  readonly perClient: number
  /** Proxies, whose connections carry many clients' requests: they have no limit of their own. */
  readonly isTrusted: (address: string) => boolean
}

/** Keeps a server's connections below its limits. Some more are let in, to be told so and closed. */
export function limitConnections(server: Server, { total, perClient, isTrusted }: ConnectionLimits): void {
  let open = 0
  const byClient = new Map<string, number>()
  server.maxConnections = total + Math.min(SURPLUS, Math.ceil(total / 4))
  server.on('connection', (socket: Socket) => {
    open++
    socket.once('close', () => open--)
    const address = socket.remoteAddress ?? ''
    const ofClient = isTrusted(address) ? 0 : count(byClient, clientGroup(address), socket)
    if (open <= total && ofClient <= perClient) return
    if (ofClient > perClient + CLIENT_SURPLUS) {
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

/** Returns how many connections a client has, this one included. */
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
