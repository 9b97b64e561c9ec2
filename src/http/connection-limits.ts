import { readFileSync } from 'node:fs'
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { ByteBudget, type ByteHold } from '../lib/byte-budget.ts'
import type { Client } from '../lib/client.ts'
import { OverloadError } from '../lib/errors.ts'
import { POOLS } from '../lib/limits.ts'
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

/** One client has half of the places to wait: they are more than there are connections, each of which has one request at a time. */
const { running: PER_TURN, waiting: MAX_WAITING } = POOLS.requests

/**
 * Limits the requests that begin in one turn of the event loop. A turn handles a request of each connection, and every step of an
 * upload takes a turn, so without a limit a client with hundreds of connections would make the uploads of others very slow.
 */
export class RequestTurns<Request> {
  readonly #getClient: (request: Request) => Client
  /** Requests of each client, the oldest first. The next one is that of the first client, who goes to the end. */
  readonly #queues = new Map<Client, (() => void)[]>()
  #waiting = 0
  /** How many more requests may begin in this turn. */
  #left = PER_TURN

  constructor(getClient: (request: Request) => Client) {
    this.#getClient = getClient
  }

  /**
   * Returns undefined if the request can begin now, which is usual; else a promise that resolves in its turn. Clients take turns.
   * The wait is short, because each turn is.
   * @throws OverloadError if too many requests wait
   */
  take(request: Request): Promise<void> | undefined {
    if (this.#left > 0 && this.#waiting === 0) {
      this.#count()
      return undefined
    }
    const client = this.#getClient(request)
    const queue = this.#queues.get(client) ?? []
    if (this.#waiting === MAX_WAITING || queue.length === MAX_WAITING / 2) throw new OverloadError()
    const { promise, resolve } = Promise.withResolvers<void>()
    queue.push(resolve)
    this.#queues.set(client, queue)
    this.#waiting++
    return promise
  }

  #count(): void {
    if (this.#left === PER_TURN) setImmediate(() => this.#beginTurn())
    this.#left--
  }

  #beginTurn(): void {
    this.#left = PER_TURN
    // A client that goes to the end is visited again.
    for (const [client, queue] of this.#queues) {
      if (this.#left === 0) break
      const begin = queue.shift()
      this.#queues.delete(client)
      if (queue.length > 0) this.#queues.set(client, queue)
      this.#waiting--
      this.#count()
      begin?.()
    }
  }
}
