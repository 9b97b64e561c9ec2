import type { IncomingMessage } from 'node:http'

/** Bytes of all bodies that are read in one turn of the event loop, and bodies that are read on in the next one. */
const BYTES_PER_TURN = 1024 * 1024
const BODIES_PER_TURN = 16

/**
 * Limits how much of all bodies together is read between two turns of the event loop. A turn accepts one connection: without
 * a limit, some hundred senders of large bodies make each turn so long that others wait for seconds to be accepted.
 */
export class ReadTurns {
  readonly #waiting = new Map<string, IncomingMessage[]>()
  #left = BYTES_PER_TURN
  #isScheduled = false

  /** Counts what was read; past the limit the request is paused until clients before it had their turn. */
  count(request: IncomingMessage, client: string, bytes: number): void {
    this.#left -= bytes
    this.#schedule()
    if (this.#left > 0) return
    request.pause()
    const queue = this.#waiting.get(client)
    if (queue === undefined) this.#waiting.set(client, [request])
    else queue.push(request)
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#next())
  }

  #next(): void {
    this.#isScheduled = false
    this.#left = BYTES_PER_TURN
    for (let resumed = 0; resumed < BODIES_PER_TURN; resumed++) {
      const [next] = this.#waiting
      if (next === undefined) return
      const [client, queue] = next
      queue.shift()?.resume()
      // To the end of the line, behind all other clients.
      this.#waiting.delete(client)
      if (queue.length > 0) this.#waiting.set(client, queue)
    }
    if (this.#waiting.size > 0) this.#schedule()
  }
}
