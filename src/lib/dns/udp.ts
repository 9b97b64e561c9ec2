import { UdpSocket } from './udp-socket.ts'
import { randomUint16 } from './random.ts'
import type { ServerAddress } from './servers.ts'

/** Ports change this often, so that probing cannot find one while it is in use. */
const MAX_QUERIES_PER_SOCKET = 512
const MAX_AGE_MS = 10_000

/**
 * The UDP sockets that look-ups share for one server. Each query uses a random one; sockets, and so source ports,
 * are replaced after 512 queries or 10 seconds. A forger has to guess both port and id (RFC 5452), without the cost
 * of a socket per query.
 */
export class UdpPool {
  readonly #server: ServerAddress
  readonly #slots: (UdpSocket | undefined)[]
  readonly #open = new Set<UdpSocket>()
  readonly #sweeper: NodeJS.Timeout

  constructor(server: ServerAddress, size: number) {
    this.#server = server
    this.#slots = Array.from({ length: size }, () => undefined)
    this.#sweeper = setInterval(() => this.#retireOld(), MAX_AGE_MS)
    this.#sweeper.unref()
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper)
    await Promise.all([...this.#open].map((socket) => socket.close()))
  }

  /** Returns the socket for the next query. */
  pick(): UdpSocket {
    const index = randomUint16() % this.#slots.length
    const current = this.#slots[index]
    if (current !== undefined && !current.retired) {
      if (current.queries < MAX_QUERIES_PER_SOCKET) return current
      current.retire()
    }
    const fresh = new UdpSocket(this.#server, () => this.#open.delete(fresh))
    this.#open.add(fresh)
    this.#slots[index] = fresh
    return fresh
  }

  #retireOld(): void {
    const bornBefore = performance.now() - MAX_AGE_MS
    for (const [index, socket] of this.#slots.entries()) {
      if (socket === undefined || socket.bornAt > bornBefore) continue
      socket.retire()
      this.#slots[index] = undefined
    }
  }
}
