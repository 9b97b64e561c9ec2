import type { Client } from '../lib/client.ts'
import { OverloadError } from '../lib/errors.ts'
import { POOLS } from '../lib/pools.ts'

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
