import type { ServerAddress } from './servers.ts'
import { askOverTcp } from './tcp.ts'
import { UdpPool } from './udp.ts'
import type { ServerReply } from './udp-socket.ts'
import { nameServerQuery } from './wire.ts'
import type { Query } from './wire.ts'

/** A server's last word on a query: truncation and trouble with EDNS have been dealt with. */
export type FinalReply = Exclude<ServerReply, { kind: 'truncated' | 'no-edns' }>

const MAX_TCP_CONNECTIONS = 128

/** Puts queries to servers, over TCP where an answer does not fit a datagram. */
export class Exchange {
  readonly #servers: readonly ServerAddress[]
  readonly #pools: readonly UdpPool[]
  #tcpConnections = 0

  constructor(servers: readonly ServerAddress[], socketsPerServer: number) {
    this.#servers = servers
    this.#pools = servers.map((server) => new UdpPool(server, socketsPerServer))
  }

  /** `heard` is called at every sign of life, `settle` at most once; neither after the cancel that this gives. */
  ask(server: number, query: Query, heard: () => void, settle: (reply: FinalReply) => void): () => void {
    const pool = this.#pools[server]
    const address = this.#servers[server]
    if (pool === undefined || address === undefined) throw new RangeError(`no server ${server}`)
    let cancel: () => void
    const onReply = (reply: ServerReply, from: Query): void => {
      if (reply.kind !== 'unreachable') heard()
      switch (reply.kind) {
        case 'truncated':
          cancel = this.#askOverTcp(address, from, (next) => onReply(next, from))
          return
        case 'no-edns': {
          const plain = nameServerQuery(from.name, false)
          if (plain === undefined) settle({ kind: 'failed' })
          else cancel = pool.ask(plain, (next) => onReply(next, plain))
          return
        }
        default:
          settle(reply)
      }
    }
    cancel = pool.ask(query, (reply) => onReply(reply, query))
    return () => cancel()
  }

  async close(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.close()))
  }

  #askOverTcp(address: ServerAddress, query: Query, settle: (reply: ServerReply) => void): () => void {
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
    const cancel = askOverTcp(address, query, (reply) => {
      release()
      settle(reply)
    })
    return () => {
      release()
      cancel()
    }
  }
}
