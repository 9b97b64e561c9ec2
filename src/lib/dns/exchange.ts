import type { Asking, Channel, ServerReply } from './channel.ts'
import { Pipeline } from './pipeline.ts'
import type { ServerAddress } from './servers.ts'
import { askOverTcp } from './tcp.ts'
import { UdpPool } from './udp.ts'
import type { Query } from './wire.ts'

const MAX_TCP_CONNECTIONS = 128
/**
 * Datagrams that are sent before answers are read again. Thousands at once would fill the buffers of both sides, which
 * hold some hundreds: what does not fit is lost, asked again after the same time, and lost again.
 */
const SENDS_PER_TURN = 128

/** One server, and the ways to it. */
export interface Server {
  readonly address: ServerAddress
  readonly pool: UdpPool
  /** Undefined where TCP is for truncated answers alone. */
  readonly pipeline: Pipeline | undefined
  /** Attempts. */
  underWay: number
}

export interface ExchangeOptions {
  /** UDP sockets, and so source ports, in use at a time towards each server. */
  readonly socketsPerServer: number
  /** Whether much is asked over one TCP connection. */
  readonly pipelines: boolean
}

/** Puts queries to servers: by datagram, many on one connection, and on one of its own what fits no datagram. */
export class Exchange {
  readonly #servers: readonly Server[]
  #tcpConnections = 0
  #sentThisTurn = 0
  #line: Attempt[] = []
  #isTurnEnding = false

  constructor(servers: readonly ServerAddress[], { socketsPerServer, pipelines }: ExchangeOptions) {
    this.#servers = servers.map((address) => ({
      address,
      pool: new UdpPool(address, socketsPerServer),
      pipeline: pipelines ? new Pipeline(address) : undefined,
      underWay: 0,
    }))
  }

  /** Whoever asks has to cancel the attempt once, whatever came of it. */
  ask(index: number, query: Query, asker: Asker): Attempt {
    const server = this.#servers[index]
    if (server === undefined) throw new RangeError(`no server ${index}`)
    const attempt = new Attempt(this, server, index, query, asker)
    attempt.start()
    return attempt
  }

  /** Whether an attempt may send a datagram now; if not, it stands in line for its turn. */
  mayDatagram(attempt: Attempt): boolean {
    if (!this.#isTurnEnding) {
      this.#isTurnEnding = true
      setImmediate(this.#endTurn)
    }
    if (this.#sentThisTurn < SENDS_PER_TURN) {
      this.#sentThisTurn++
      return true
    }
    this.#line.push(attempt)
    return false
  }

  readonly #endTurn = (): void => {
    const line = this.#line
    this.#line = []
    this.#sentThisTurn = 0
    this.#isTurnEnding = false
    // In their order; those for whom there is still no room stand in line again.
    for (const attempt of line) attempt.takeTurn()
  }

  /** @returns what cancels it */
  askOverTcp(server: Server, query: Query, settle: (reply: ServerReply) => void): () => void {
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
    const cancel = askOverTcp(server.address, query, (reply) => {
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
    for (const { pipeline } of this.#servers) pipeline?.close()
    await Promise.all(this.#servers.map(({ pool }) => pool.close()))
  }
}

/** A server's last word on a query: truncation and trouble with EDNS have been dealt with. */
export type FinalReply = Exclude<ServerReply, { kind: 'truncated' | 'no-edns' }>

/** Who asks. */
export interface Asker {
  /** At every sign of life of a server. */
  heard(server: number): void
  /** At most once for each attempt, and not after its cancel. */
  settle(server: number, reply: FinalReply): void
}

/** One question on its way to one server. There is one for every look-up, so it is an object and no set of closures. */
export class Attempt implements Asking {
  readonly #exchange: Exchange
  readonly #server: Server
  readonly #index: number
  readonly #asker: Asker
  #channel: Channel | undefined
  #id = 0
  #isCancelled = false
  #isForDatagram = false
  #cancelTcp: (() => void) | undefined
  query: Query

  constructor(exchange: Exchange, server: Server, index: number, query: Query, asker: Asker) {
    this.#exchange = exchange
    this.#server = server
    this.#index = index
    this.#asker = asker
    this.query = query
  }

  start(): void {
    this.#server.underWay++
    this.#send()
  }

  #send(): void {
    const { pipeline, underWay } = this.#server
    const connection = this.#isForDatagram ? undefined : pipeline?.channel(underWay)
    if (connection !== undefined) this.#askOn(connection)
    else if (this.#exchange.mayDatagram(this)) this.#askOn(this.#server.pool.pick())
  }

  /** Its turn for a datagram has come; meanwhile there may be a connection. */
  takeTurn(): void {
    if (!this.#isCancelled) this.#send()
  }

  #askOn(channel: Channel): void {
    this.#channel = channel
    this.#id = channel.ask(this)
  }

  cancel(): void {
    this.#isCancelled = true
    this.#server.underWay--
    this.#channel?.forget(this.#id, this)
    this.#cancelTcp?.()
  }

  dropped(): void {
    this.#isForDatagram = true
    this.#send()
  }

  replied(reply: ServerReply): void {
    if (reply.kind !== 'unreachable') this.#asker.heard(this.#index)
    switch (reply.kind) {
      case 'truncated':
        this.#cancelTcp = this.#exchange.askOverTcp(this.#server, this.query, (next) => this.replied(next))
        return
      case 'no-edns':
        this.query = { ...this.query, edns: false }
        this.#isForDatagram = true
        this.#send()
        return
      default:
        this.#asker.settle(this.#index, reply)
    }
  }
}
