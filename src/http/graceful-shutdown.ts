import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { getOriginal } from './malformed-requests.ts'

/** Graceful shutdown, in two phases. All times in milliseconds. */
export interface ShutdownOptions {
  /** How long to keep accepting connections while `/readyz` already fails, so that load balancers stop routing here. */
  readonly drainDelayMs: number
  /** How long to keep idle keep-alive connections open afterwards: the client may just be sending a request it cannot retry. */
  readonly idleGraceMs: number
}

/**
 * Makes `server.close()` end each connection once its last response was sent. Node's `closeIdleConnections` counts a connection as
 * idle while its response is still on its way to a slow reader, and cuts it short; and it looks only once, so a connection that
 * is busy then keeps the server open until its keep-alive timeout.
 */
export class GracefulShutdown {
  /** Unfinished responses of each open connection, oldest first; finished ones are removed when the next request arrives. */
  readonly #connections = new Map<Socket, ServerResponse[]>()
  /** Responses that carry our `Connection: close`. */
  readonly #last = new WeakSet<ServerResponse>()
  #isStopping = false
  #isClosing = false
  #idleGraceMs = 0

  get isStopping(): boolean {
    return this.#isStopping
  }

  /** Tracks the connections of a server. Must be called before it listens. */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => {
      const original = getOriginal(socket)
      // It would seem idle, and be closed, while the replayed connection is busy.
      if (original !== undefined) this.#connections.delete(original)
      this.#connections.set(socket, [])
      socket.once('close', () => this.#connections.delete(socket))
    })
    // `server.close()` calls this, more than once.
    server.closeIdleConnections = () => {
      if (this.#idleGraceMs === 0) this.#closeIdle()
      else setTimeout(() => this.#closeIdle(), this.#idleGraceMs).unref()
    }
  }

  /**
   * Registers a request. Must be called before the headers of its response are written.
   * @returns the unfinished responses of its connection, oldest first, this one included
   */
  track({ socket }: IncomingMessage, response: ServerResponse): readonly ServerResponse[] {
    const responses = this.#connections.get(socket)
    if (responses === undefined) return [response]
    // Responses to requests that were rejected before they were observed are not released.
    while (responses[0]?.closed === true) responses.shift()
    responses.push(response)
    if (this.#isStopping) {
      this.#follow(socket, responses, response)
      this.#announceClose(responses)
    }
    return responses
  }

  /**
   * Removes Fastify's `Connection: close`, which all responses have while the server closes, if the client has pipelined another
   * request. Must be called after Fastify has set it.
   */
  keepForPipelined(socket: Socket, response: ServerResponse): void {
    if (!this.#isStopping) return
    const newest = this.#connections.get(socket)?.at(-1)
    if (newest !== undefined && newest !== response) response.removeHeader('connection')
  }

  /** Forgets a closed response, which would otherwise stay in memory until the next request of its connection. */
  release(socket: Socket, response: ServerResponse): void {
    const responses = this.#connections.get(socket)
    if (responses?.[0] === response) responses.shift()
  }

  /** Whether a response is still being written on the connection. */
  isBusy(socket: Socket): boolean {
    return this.#connections.get(socket)?.some(({ closed }) => !closed) === true
  }

  /** From now on each response carries `Connection: close`, so that its client reconnects to another process. */
  begin(idleGraceMs: number): void {
    this.#isStopping = true
    this.#idleGraceMs = idleGraceMs
    for (const [socket, responses] of this.#connections) {
      for (const response of responses) this.#follow(socket, responses, response)
      this.#announceClose(responses)
    }
  }

  #follow(socket: Socket, responses: readonly ServerResponse[], response: ServerResponse): void {
    response.once('close', () => {
      if (this.#isClosing && responses.every(({ closed }) => closed)) socket.destroySoon()
    })
  }

  /** Marks the newest response only: requests that the client pipelined before it are answered, too. */
  #announceClose(responses: readonly ServerResponse[]): void {
    const newest = responses.at(-1)
    for (const response of responses) {
      if (response.headersSent || (response === newest) === this.#last.has(response)) continue
      if (response === newest) {
        this.#last.add(response.setHeader('connection', 'close'))
      } else {
        this.#last.delete(response)
        response.removeHeader('connection')
      }
    }
  }

  #closeIdle(): void {
    this.#isClosing = true
    for (const socket of this.#connections.keys()) if (!this.isBusy(socket)) socket.destroy()
  }
}
