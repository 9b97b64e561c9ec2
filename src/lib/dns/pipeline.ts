import { PipelineConnection } from './pipeline-connection.ts'
import type { ServerAddress } from './servers.ts'

/** Questions under way to one server that make a connection worth its while. */
const BULK = 32
/** For how long a server is left alone that does not take connections, or is no quicker by them. */
const BARRED_MS = 300_000

/**
 * A TCP connection to one server while there is much to ask it. Nobody waits for it: until it is there, when it has no
 * room and after its end, questions go by datagram.
 */
export class Pipeline {
  readonly #server: ServerAddress
  #connection: PipelineConnection | undefined
  #barredUntil = 0

  constructor(server: ServerAddress) {
    this.#server = server
  }

  /** @param underWay questions to the server that are */
  channel(underWay: number): PipelineConnection | undefined {
    if (this.#connection !== undefined) return this.#connection.hasRoom ? this.#connection : undefined
    if (underWay >= BULK && performance.now() >= this.#barredUntil) this.#open()
    return undefined
  }

  close(): void {
    this.#barredUntil = Number.POSITIVE_INFINITY
    this.#connection?.close()
  }

  #open(): void {
    this.#connection = new PipelineConnection(this.#server, (isUseless) => {
      this.#connection = undefined
      if (isUseless) this.#barredUntil = Math.max(this.#barredUntil, performance.now() + BARRED_MS)
    })
  }
}
