import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** Past the bound so many more are open for as long as it takes to tell them to come back. */
const SURPLUS = 1_000
/** A connection past the bound that asks for nothing is closed after this time. */
const SURPLUS_IDLE_MS = 2_000

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

/** Whether a connection is past the bound of its server. */
export const isSurplus = (socket: Socket): boolean => surplus.size > 0 && surplus.has(socket)

/** Keeps a server's connections below `bound`. Some more are let in, to be told so and closed. */
export function boundConnections(server: Server, bound: number): void {
  let open = 0
  server.maxConnections = bound + Math.min(SURPLUS, Math.ceil(bound / 4))
  server.on('connection', (socket: Socket) => {
    open++
    socket.once('close', () => open--)
    if (open <= bound) return
    surplus.add(socket)
    const closing = setTimeout(() => socket.destroySoon(), SURPLUS_IDLE_MS)
    socket.once('close', () => {
      clearTimeout(closing)
      surplus.delete(socket)
    })
  })
}
