import { PipelineConnection } from './pipeline-connection.ts'
import type { ServerAddress } from './servers.ts'

/** Queries in flight to one server from which on a connection pays off. */
const BULK = 32
/** How long a server that refuses connections, or is not faster with them, is used over UDP only. */
const UDP_ONLY_MS = 300_000

/**
 * A TCP connection to one server during bulk look-ups. Queries never wait for it: while it is connecting, full or
 * closed, they are sent over UDP.
 */
export class Pipeline {
  readonly #server: ServerAddress
  #connection: PipelineConnection | undefined
  #barredUntil = 0

  constructor(server: ServerAddress) {
    this.#server = server
  }

  /** @param inFlight queries in flight to the server */
  channel(inFlight: number): PipelineConnection | undefined {
    if (this.#connection !== undefined) return this.#connection.hasRoom ? this.#connection : undefined
    if (inFlight >= BULK && performance.now() >= this.#barredUntil) this.#open()
    return undefined
  }

  close(): void {
    this.#barredUntil = Number.POSITIVE_INFINITY
    this.#connection?.close()
  }

  #open(): void {
    this.#connection = new PipelineConnection(this.#server, (isUseless) => {
      this.#connection = undefined
      if (isUseless) this.#barredUntil = Math.max(this.#barredUntil, performance.now() + UDP_ONLY_MS)
    })
  }
}
