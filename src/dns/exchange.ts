import type { ServerAddress } from './servers.ts'
import { askOverTcp } from './tcp.ts'
import { UdpPool } from './udp.ts'
import type { Asking, ServerReply, UdpSocket } from './udp-socket.ts'
import { nameServerQuery } from './wire.ts'
import type { Query } from './wire.ts'

/** A server's last word on a query: truncation and trouble with EDNS have been dealt with. */
export type FinalReply = Exclude<ServerReply, { kind: 'truncated' | 'no-edns' }>

/** Who asks. */
export interface Asker {
  /** At every sign of life of a server. */
  heard(server: number): void
  /** At most once for each attempt, and not after its cancel. */
  settle(server: number, reply: FinalReply): void
}

const MAX_TCP_CONNECTIONS = 128
/**
 * Datagrams that are sent before answers are read again. Thousands at once would fill the buffers of both sides, which
 * hold some hundreds: what does not fit is lost, asked again after the same time, and lost again.
 */
const SENDS_PER_TURN = 128

/** Puts queries to servers, over TCP where an answer does not fit a datagram. */
export class Exchange {
  readonly #servers: readonly { readonly address: ServerAddress; readonly pool: UdpPool }[]
  #tcpConnections = 0
  #sentThisTurn = 0
  #line: Attempt[] = []
  #isTurnEnding = false

  constructor(servers: readonly ServerAddress[], socketsPerServer: number) {
    this.#servers = servers.map((address) => ({ address, pool: new UdpPool(address, socketsPerServer) }))
  }

  ask(server: number, query: Query, asker: Asker): Attempt {
    const attempt = new Attempt(this, this.#at(server).pool, server, query, asker)
    if (this.#sentThisTurn < SENDS_PER_TURN) {
      this.#sentThisTurn++
      attempt.send()
    } else this.#line.push(attempt)
    if (!this.#isTurnEnding) {
      this.#isTurnEnding = true
      setImmediate(this.#endTurn)
    }
    return attempt
  }

  readonly #endTurn = (): void => {
    const next = this.#line.slice(0, SENDS_PER_TURN)
    this.#line = this.#line.slice(next.length)
    this.#sentThisTurn = next.length
    this.#isTurnEnding = next.length > 0
    if (this.#isTurnEnding) setImmediate(this.#endTurn)
    for (const attempt of next) attempt.send()
  }

  /** @returns what cancels it */
  askOverTcp(server: number, query: Query, settle: (reply: ServerReply) => void): () => void {
    if (this.#tcpConnections >= MAX_TCP_CONNECTIONS) {
      queueMicrotask(() => settle({ kind: 'failed' }))
      return () => undefined
    }
    this.#tcpConnections++
    let open = true
    const release = (): void => {
      if (open) this.#tcpConnections--
      open = false
    }
    const cancel = askOverTcp(this.#at(server).address, query, (reply) => {
      release()
      settle(reply)
    })
    return () => {
      release()
      cancel()
    }
  }

  async close(): Promise<void> {
    this.#line = []
    await Promise.all(this.#servers.map(({ pool }) => pool.close()))
  }

  #at(server: number) {
    const known = this.#servers[server]
    if (known === undefined) throw new RangeError(`no server ${server}`)
    return known
  }
}

/** One question on its way to one server. There is one for every look-up, so it is an object and no set of closures. */
export class Attempt implements Asking {
  readonly #exchange: Exchange
  readonly #pool: UdpPool
  readonly #server: number
  readonly #asker: Asker
  #socket: UdpSocket | undefined
  #id = 0
  #isCancelled = false
  #cancelTcp: (() => void) | undefined
  query: Query

  constructor(exchange: Exchange, pool: UdpPool, server: number, query: Query, asker: Asker) {
    this.#exchange = exchange
    this.#pool = pool
    this.#server = server
    this.#asker = asker
    this.query = query
  }

  send(): void {
    if (this.#isCancelled) return
    this.#socket = this.#pool.pick()
    this.#id = this.#socket.ask(this)
  }

  cancel(): void {
    this.#isCancelled = true
    this.#socket?.forget(this.#id, this)
    this.#cancelTcp?.()
  }

  replied(reply: ServerReply): void {
    if (reply.kind !== 'unreachable') this.#asker.heard(this.#server)
    switch (reply.kind) {
      case 'truncated':
        this.#cancelTcp = this.#exchange.askOverTcp(this.#server, this.query, (next) => this.replied(next))
        return
      case 'no-edns': {
        const plain = nameServerQuery(this.query.name, this.query.asked, false)
        if (plain === undefined) return this.#asker.settle(this.#server, { kind: 'failed' })
        this.query = plain
        this.send()
        return
      }
      default:
        this.#asker.settle(this.#server, reply)
    }
  }
}
