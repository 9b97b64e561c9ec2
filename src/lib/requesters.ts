import type { Client } from './client.ts'

/** The client of work that no client requested, such as a background job. */
export const SERVICE_CLIENT: Client = 'service'

/** Who waits for a result. */
export interface Caller {
  readonly client: Client
  /** Aborts when the caller has left. */
  readonly signal: AbortSignal
}

/** The service itself, which never leaves. */
export const SERVICE: Caller = { client: SERVICE_CLIENT, signal: new AbortController().signal }

/** Called with each client. `left` aborts when its last request has ended. */
type OnJoin = (client: string, left: AbortSignal) => void

/**
 * The clients that request the result of one job. They join and leave while it waits: it runs in the turn of any of them, so
 * that nobody is delayed by joining a job of a client with a long queue.
 */
export class Requesters {
  readonly #clients = new Map<string, { requests: number; readonly left: AbortController }>()
  #onJoin: OnJoin = () => {}

  constructor(...clients: readonly string[]) {
    for (const client of clients) this.add(client)
  }

  get clients(): readonly string[] {
    return [...this.#clients.keys()]
  }

  has(client: string): boolean {
    return this.#clients.has(client)
  }

  /** Adds a request of a client. */
  add(client: string): void {
    const known = this.#clients.get(client)
    if (known !== undefined) return void known.requests++
    const left = new AbortController()
    this.#clients.set(client, { requests: 1, left })
    this.#onJoin(client, left.signal)
  }

  /** Removes a request of a client. */
  remove(client: string): void {
    const known = this.#clients.get(client)
    if (known === undefined || --known.requests > 0) return
    this.#clients.delete(client)
    known.left.abort()
  }

  /** Calls `onJoin` with each client, now or when it joins, until the next call of `follow`. */
  follow(onJoin: OnJoin): void {
    this.#onJoin = onJoin
    for (const [client, { left }] of this.#clients) onJoin(client, left.signal)
  }
}
