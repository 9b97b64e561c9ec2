import type { Asking, Channel, ServerReply } from './channel.ts'
import type { Exchange, Server } from './exchange.ts'
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
      case 'no-edns': {
        const plain = nameServerQuery(this.query.name, this.query.asked, false)
        if (plain === undefined) return this.#asker.settle(this.#index, { kind: 'failed' })
        this.query = plain
        this.#isForDatagram = true
        this.#send()
        return
      }
      default:
        this.#asker.settle(this.#index, reply)
    }
  }
}
