/** The client of work that nobody asked for, such as a background job. */
export const SERVICE_CLIENT = 'service'

/**
 * The clients that wait for the result of one job. They may come and go while it waits: it runs in the turn of any of them, so
 * that nobody is held back by joining a job of a client with a long queue.
 */
export class Requesters {
  readonly #requests = new Map<string, number>()

  constructor(...clients: readonly string[]) {
    for (const client of clients) this.add(client)
  }

  /** Each client once, however many of its requests wait. */
  get clients(): Iterable<string> {
    return this.#requests.keys()
  }

  get size(): number {
    return this.#requests.size
  }

  has(client: string): boolean {
    return this.#requests.has(client)
  }

  add(client: string): void {
    this.#requests.set(client, (this.#requests.get(client) ?? 0) + 1)
  }

  remove(client: string): void {
    const left = (this.#requests.get(client) ?? 0) - 1
    if (left > 0) this.#requests.set(client, left)
    else this.#requests.delete(client)
  }
}
