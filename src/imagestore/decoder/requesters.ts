/** The client of work that no client requested, such as a background job. */
export const SERVICE_CLIENT = 'service'

/**
 * The clients that request the result of one job. More may join while it waits: it runs in the turn of any of them, so that
 * nobody is delayed by joining a job of a client with a long queue.
 */
export class Requesters {
  readonly #clients = new Set<string>()
  #onJoin: (client: string) => void = () => {}

  constructor(...clients: readonly string[]) {
    for (const client of clients) this.add(client)
  }

  get clients(): readonly string[] {
    return [...this.#clients]
  }

  add(client: string): void {
    if (this.#clients.has(client)) return
    this.#clients.add(client)
    this.#onJoin(client)
  }

  /** Calls `onJoin` with each client, now or when it joins, until the next call of `follow`. */
  follow(onJoin: (client: string) => void): void {
    this.#onJoin = onJoin
    this.clients.forEach(onJoin)
  }
}
