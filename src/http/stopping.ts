import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How gently a server leaves those who use it, in milliseconds. */
export interface Parting {
  /** For so long it still takes new connections, after it began to tell balancers that it is not ready. */
  readonly delayMs: number
  /**
   * For so long after that it keeps open connections on which nothing happens: a request may be on its way that could not
   * be sent again. A balancer notices within this time that nobody listens any more.
   */
  readonly lingerMs: number
}

/**
 * Makes `server.close()` end each connection as soon as its last answer has left. Node's own notion of an idle
 * connection includes one whose answer is still on its way to a slow reader, and cuts it short; and it looks only
 * once, so a connection that is busy then keeps the server open until its keep-alive time is over.
 */
export class Stopping {
  /** Answers under way on each open connection, the oldest first. */
  readonly #open = new Map<Socket, ServerResponse[]>()
  /** Those that tell their client to send nothing more on the connection. */
  readonly #last = new Set<ServerResponse>()
  #isStopping = false
  #isClosing = false
  #lingerMs = 0

  /** Called for each address that the service listens on. */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => {
      this.#open.set(socket, [])
      socket.once('close', () => this.#open.delete(socket))
    })
    // First of all: an answer that is given at once has its headers out when the next listener runs.
    server.prependListener('request', ({ socket }, response) => {
      const answers = this.#open.get(socket)
      answers?.push(response)
      if (this.#isStopping) this.#markLast(answers)
      // Comes once; a listener that knows that is dearer.
      response.on('close', () => {
        this.#last.delete(response)
        answers?.splice(answers.indexOf(response), 1)
        if (this.#isClosing && answers?.length === 0) socket.destroySoon()
      })
    })
    // What `close()` calls, more than once.
    server.closeIdleConnections = () => {
      if (this.#lingerMs === 0) this.#closeIdle()
      else setTimeout(() => this.#closeIdle(), this.#lingerMs).unref()
    }
  }

  get isStopping(): boolean {
    return this.#isStopping
  }

  /** From now on each answer sends its client to another connection, and so to who else listens there. */
  begin(lingerMs: number): void {
    this.#isStopping = true
    this.#lingerMs = lingerMs
    for (const answers of this.#open.values()) this.#markLast(answers)
  }

  /** Only the newest answer: what a client sent behind a request, without waiting, is answered as well. */
  #markLast(answers: readonly ServerResponse[] = []): void {
    for (const [index, answer] of answers.entries()) {
      const isNewest = index === answers.length - 1
      if (answer.headersSent || isNewest === this.#last.has(answer)) continue
      if (isNewest && !answer.shouldKeepAlive) continue
      answer.shouldKeepAlive = !isNewest
      if (isNewest) this.#last.add(answer)
      else this.#last.delete(answer)
    }
  }

  #closeIdle(): void {
    this.#isClosing = true
    for (const [socket, answers] of this.#open) if (answers.length === 0) socket.destroy()
  }
}
