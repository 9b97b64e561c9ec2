import type { PendingQuery, Channel, ServerReply } from './pending.ts'
import { Pipeline } from './pipeline.ts'
import type { ServerAddress } from './servers.ts'
import { queryOverTcp } from './tcp.ts'
import { UdpPool } from './udp.ts'
import { withoutEdns, type Query } from './wire.ts'

const MAX_TCP_CONNECTIONS = 128
/**
 * Datagrams sent before answers are read again. The socket buffers of both sides hold some hundreds: a burst of
 * thousands would overflow them, and its retries would again.
 */
const SENDS_PER_TURN = 128

/** One server and its transports. */
export interface Server {
  readonly address: ServerAddress
  readonly pool: UdpPool
  /** Undefined if TCP is used for truncated answers only. */
  readonly pipeline: Pipeline | undefined
  /** Number of attempts in flight. */
  inFlight: number
}

export interface ExchangeOptions {
  /** UDP sockets, and so source ports, per server. */
  readonly socketsPerServer: number
  /** Whether many concurrent queries share a TCP connection. */
  readonly pipelines: boolean
}

/**
 * Sends queries to servers: over UDP, over a shared TCP connection, or, after a truncated answer, over a separate
 * one.
 */
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
      inFlight: 0,
    }))
  }

  /** The caller must cancel the attempt exactly once, whatever its outcome. */
  ask(index: number, query: Query, listener: AttemptListener): Attempt {
    const server = this.#servers[index]
    if (server === undefined) throw new RangeError(`no server ${index}`)
    const attempt = new Attempt(this, server, index, query, listener)
    attempt.start()
    return attempt
  }

  /** Returns whether an attempt may send a datagram now. If not, it is queued. */
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
    // In order; attempts that still may not send are queued again.
    for (const attempt of line) attempt.takeTurn()
  }

  /** @returns a function that cancels the query */
  queryOverTcp(server: Server, query: Query, settle: (reply: ServerReply) => void): () => void {
    if (this.#tcpConnections >= MAX_TCP_CONNECTIONS) {
      queueMicrotask(() => settle({ kind: 'failed' }))
      return () => undefined
    }
    this.#tcpConnections++
    return queryOverTcp(server.address, query, settle, () => this.#tcpConnections--)
  }

  async close(): Promise<void> {
    this.#line = []
    for (const { pipeline } of this.#servers) pipeline?.close()
    await Promise.all(this.#servers.map(({ pool }) => pool.close()))
  }
}

/** A server's final reply to a query, after retries for truncation and missing EDNS support. */
export type FinalReply = Exclude<ServerReply, { kind: 'truncated' | 'no-edns' }>

/** Receives the results of attempts. */
export interface AttemptListener {
  /** Called whenever a server sends anything. */
  heard(server: number): void
  /** Called at most once for each attempt, and not after it is cancelled. */
  settle(server: number, reply: FinalReply): void
}

/** A query in flight to one server. An object instead of closures, because each look-up creates one. */
export class Attempt implements PendingQuery {
  readonly #exchange: Exchange
  readonly #server: Server
  readonly #index: number
  readonly #listener: AttemptListener
  #channel: Channel | undefined
  #id = 0
  #isCancelled = false
  #isForDatagram = false
  #cancelTcp: (() => void) | undefined
  query: Query

  constructor(exchange: Exchange, server: Server, index: number, query: Query, listener: AttemptListener) {
    this.#exchange = exchange
    this.#server = server
    this.#index = index
    this.#listener = listener
    this.query = query
  }

  start(): void {
    this.#server.inFlight++
    this.#send()
  }

  #send(): void {
    const { pipeline, inFlight } = this.#server
    const connection = this.#isForDatagram ? undefined : pipeline?.channel(inFlight)
    if (connection !== undefined) this.#askOn(connection)
    else if (this.#exchange.mayDatagram(this)) this.#askOn(this.#server.pool.pick())
  }

  /** Called when it may send a datagram; by now there may be a connection instead. */
  takeTurn(): void {
    if (!this.#isCancelled) this.#send()
  }

  #askOn(channel: Channel): void {
    this.#channel = channel
    this.#id = channel.ask(this)
  }

  cancel(): void {
    this.#isCancelled = true
    this.#server.inFlight--
    this.#channel?.forget(this.#id, this)
    this.#cancelTcp?.()
  }

  dropped(): void {
    this.#isForDatagram = true
    this.#send()
  }

  replied(reply: ServerReply): void {
    if (reply.kind !== 'unreachable') this.#listener.heard(this.#index)
    switch (reply.kind) {
      case 'truncated':
        this.#cancelTcp = this.#exchange.queryOverTcp(this.#server, this.query, (next) => this.replied(next))
        return
      case 'no-edns':
        this.query = withoutEdns(this.query)
        this.#isForDatagram = true
        this.#send()
        return
      default:
        this.#listener.settle(this.#index, reply)
    }
  }
}
