import { readFileSync } from 'node:fs'
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { ByteBudget, type ByteHold } from '../lib/byte-budget.ts'
import type { Client } from '../lib/client.ts'
import { POOLS } from '../lib/pools.ts'
import { addressClient, clientOfRequest, type KnownRequest } from './client.ts'
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

/** A process that has a fraction of the memory gets no less for unsent responses. */
const MIN_BYTES = 16 * 1024 * 1024

/** A body that is waiting to be sent: several responses can share the memory of one image. */
interface UnsentBody {
  readonly hold: ByteHold
  readonly responses: Set<ServerResponse>
}

/**
 * Limits the memory of responses that are waiting for their clients to read. When it is full, the client that holds the most
 * loses the connections of its largest body, so that slow readers cannot exhaust the memory of the process.
 */
export class UnsentResponses {
  readonly #budget: ByteBudget
  readonly #shared = new Map<ArrayBufferLike, UnsentBody>()

  /** @param memoryFraction the fraction of the memory that this process may use, up to 1 */
  constructor(memoryFraction: number) {
    this.#budget = new ByteBudget(Math.max(MIN_BYTES, POOLS.responses.bytes * memoryFraction))
  }

  /** Charges what the operating system has not accepted of a response that was just written, until it is sent. */
  track(request: KnownRequest, response: ServerResponse, body: unknown): void {
    const bytes = Math.min(response.writableLength, this.#budget.perClient)
    if (bytes === 0 || response.closed) return
    const buffer = sharedBuffer(body)
    const known = buffer && this.#shared.get(buffer)
    if (known !== undefined) return this.#add(known, buffer, response)
    const close = () => {
      this.#forget(unsent, buffer)
      for (const { req } of unsent.responses) req.socket.destroy()
    }
    const hold = this.#budget.open(clientOfRequest(request), close)
    const unsent: UnsentBody = { hold, responses: new Set() }
    if (buffer !== undefined) this.#shared.set(buffer, unsent)
    this.#add(unsent, buffer, response)
    try {
      hold.grow(bytes)
    } catch {
      // No other client holds more.
      close()
    }
  }

  #add(unsent: UnsentBody, buffer: ArrayBufferLike | undefined, response: ServerResponse): void {
    unsent.responses.add(response)
    response.once('close', () => {
      unsent.responses.delete(response)
      if (unsent.responses.size > 0) return
      unsent.hold.release()
      this.#forget(unsent, buffer)
    })
  }

  #forget(unsent: UnsentBody, buffer: ArrayBufferLike | undefined): void {
    if (buffer !== undefined && this.#shared.get(buffer) === unsent) this.#shared.delete(buffer)
  }
}

/** Returns the memory of a body that other responses may send, too. Node's pool holds parts of unrelated ones. */
function sharedBuffer(body: unknown): ArrayBufferLike | undefined {
  return body instanceof Uint8Array && body.buffer.byteLength > Buffer.poolSize ? body.buffer : undefined
}
