import type { Query } from './message.ts'
import type { ServerAddress } from './servers.ts'
import { queryOverTcp } from './tcp.ts'
import { UdpSocket, type FinalReply, type ServerReply } from './udp.ts'

/** How long a dead server is queried last: spares most look-ups the wait, but finds a restarted server soon. */
const DEAD_MS = 5_000

/** One DNS server: the socket for its next queries, and whether it answered lately. */
export class Server {
  readonly #address: ServerAddress
  readonly #now: () => number
  #socket: UdpSocket | undefined
  /** The server is queried last until then, in milliseconds of the clock; 0 if it answered last time. */
  #deadUntil = 0
  #lastHeard = Number.NEGATIVE_INFINITY

  constructor(address: ServerAddress, now: () => number) {
    this.#address = address
    this.#now = now
  }

  /**
   * Sends a query, over TCP if the answer does not fit into a datagram.
   * @param settle called at most once, and not after the query is cancelled
   * @returns a function that cancels the query
   */
  ask(query: Query, settle: (reply: FinalReply) => void): () => void {
    if (this.#socket?.isOpen !== true) this.#socket = new UdpSocket(this.#address)
    let cancel = this.#socket.send(query, (reply) => {
      this.#heard(reply)
      if (reply.kind === 'truncated') cancel = queryOverTcp(this.#address, query, settle)
      else settle(reply)
    })
    return () => cancel()
  }

  /** Returns true if it was silent or unreachable lately. After a while one caller gets false, and tries it. */
  isDead(): boolean {
    if (this.#deadUntil === 0) return false
    if (this.#deadUntil > this.#now()) return true
    this.#deadUntil = this.#now() + DEAD_MS
    return false
  }

  /** Notes that a query sent at this time got no answer. One name may just be slow, if others were answered since. */
  silentSince(sentAt: number): void {
    if (this.#lastHeard < sentAt) this.#deadUntil = this.#now() + DEAD_MS
  }

  #heard({ kind }: ServerReply): void {
    if (kind === 'unreachable') {
      this.#deadUntil = this.#now() + DEAD_MS
    } else {
      this.#lastHeard = this.#now()
      this.#deadUntil = 0
    }
  }
}

/** Returns the servers in the order to query them: from `first` in turn, dead ones last. */
export function orderServers(servers: readonly Server[], first: number): readonly Server[] {
  const order = [...servers.slice(first), ...servers.slice(0, first)]
  const dead = new Set(order.filter((server) => server.isDead()))
  return dead.size === 0 ? order : [...order.filter((server) => !dead.has(server)), ...dead]
}
