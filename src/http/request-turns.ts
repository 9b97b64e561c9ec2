import { OverloadError } from '../lib/errors.ts'
import { clientGroup } from './client.ts'

/** Requests begun in one turn of the event loop: about a millisecond of work. */
const PER_TURN = 32
/** Requests that may wait: more than there are connections, each of which has one at a time. */
const MAX_WAITING = 25_000
const MAX_WAITING_PER_CLIENT = 1_000

/**
 * Limits the requests that begin in one turn of the event loop, of those without a key that is known to be right. A crowd of
 * strangers then delays each step of other requests by a millisecond, however many connections it has.
 */
export class RequestTurns {
  /** Of each client, its oldest request first. The next one is that of the first client, who goes to the end. */
  readonly #queues = new Map<string, (() => void)[]>()
  #waiting = 0
  /** How many more requests may begin in this turn. */
  #left = PER_TURN

  /**
   * Returns undefined if the request can begin now, which is usual; else a promise that resolves in its turn. Clients take turns.
   * The wait is short, because each turn is.
   * @throws OverloadError if too many requests wait
   */
  take(request: { readonly ip: string }): Promise<void> | undefined {
    if (this.#left > 0 && this.#waiting === 0) {
      this.#count()
      return undefined
    }
    const client = clientGroup(request.ip)
    const queue = this.#queues.get(client) ?? []
    if (this.#waiting === MAX_WAITING || queue.length === MAX_WAITING_PER_CLIENT) throw new OverloadError()
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
    for (const [client, [begin, ...others]] of this.#queues) {
      if (this.#left === 0) break
      this.#queues.delete(client)
      if (others.length > 0) this.#queues.set(client, others)
      this.#waiting--
      this.#count()
      begin?.()
    }
  }
}
