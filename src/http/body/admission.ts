import { OverloadError } from '../../lib/errors.ts'

/** Bodies of one client in line, and how long one waits for its turn. */
const MAX_WAITING = 64
const WAIT_MS = 10_000

interface Waiter {
  readonly bytes: number
  readonly start: () => void
}

interface Client {
  bytes: number
  readonly waiting: Waiter[]
}

/**
 * Keeps the declared sizes of each client's bodies under way below a limit: those past it wait for their turn, before a byte
 * of them is read, instead of all of them failing halfway.
 */
export class Admission {
  readonly #limit: number
  readonly #clients = new Map<string, Client>()

  /** @param limit bytes of one client; no body may declare more */
  constructor(limit: number) {
    this.#limit = limit
  }

  /**
   * Returns the function that ends the body's turn; calling it twice has no effect.
   * @throws OverloadError if too many wait already, or for too long
   */
  async enter(name: string, bytes: number): Promise<() => void> {
    const client = this.#clients.get(name) ?? { bytes: 0, waiting: [] }
    this.#clients.set(name, client)
    if (client.waiting.length > 0 || client.bytes + bytes > this.#limit) await this.#wait(name, client, bytes)
    else client.bytes += bytes
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      client.bytes -= bytes
      this.#startNext(name, client)
    }
  }

  #wait(name: string, client: Client, bytes: number): Promise<void> {
    if (client.waiting.length >= MAX_WAITING) return Promise.reject(new OverloadError())
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        client.waiting.splice(client.waiting.indexOf(waiter), 1)
        reject(new OverloadError())
        this.#startNext(name, client)
      }, WAIT_MS).unref()
      const waiter = {
        bytes,
        start: () => {
          clearTimeout(timer)
          client.bytes += bytes
          resolve()
        },
      }
      client.waiting.push(waiter)
    })
  }

  #startNext(name: string, client: Client): void {
    for (let next = client.waiting[0]; next !== undefined; next = client.waiting[0]) {
      if (client.bytes + next.bytes > this.#limit) break
      client.waiting.shift()
      next.start()
    }
    if (client.bytes === 0 && client.waiting.length === 0) this.#clients.delete(name)
  }
}
