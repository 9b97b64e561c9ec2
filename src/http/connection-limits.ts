import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Client } from '../lib/client.ts'
import { addressClient } from './client.ts'
import { getOriginal } from './malformed-requests.ts'

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

export interface ConnectionLimits {
  readonly total: number
  /** Per client address. */
  readonly perClient: number
  /** Trusted proxies have no limit per client, because their connections carry requests of many clients. */
  readonly isTrusted: (address: string) => boolean
}

/** Limits the connections of a server. Those above a limit are reset. */
export function limitConnections(server: Server, { total, perClient, isTrusted }: ConnectionLimits): void {
  const byClient = new Map<Client, number>()
  server.maxConnections = total
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    // Its socket is counted already.
    if (getOriginal(socket) !== undefined || isTrusted(address)) return
    const client = addressClient(address)
    const open = (byClient.get(client) ?? 0) + 1
    if (open > perClient) return void socket.resetAndDestroy()
    byClient.set(client, open)
    socket.once('close', () => {
      const left = (byClient.get(client) ?? 1) - 1
      if (left === 0) byClient.delete(client)
      else byClient.set(client, left)
    })
  })
}
