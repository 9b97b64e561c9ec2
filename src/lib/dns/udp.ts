import { randomInt } from 'node:crypto'
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import type { Reply } from './classify.ts'
import { messageId, messageWithId, readReply, type Query } from './message.ts'
import type { ServerAddress } from './servers.ts'

/** The receive buffer of a socket holds about as many answers. The next socket has another source port. */
const QUERIES_PER_SOCKET = 256
/** The kernel gives what it allows. */
const RECEIVE_BUFFER_BYTES = 2 ** 20

/** The outcome of a query to one server: its reply, or that it is unreachable. */
export type ServerReply = Exclude<Reply, { kind: 'mismatch' }> | { readonly kind: 'unreachable' }

/** The reply of a server after TCP, if it was truncated. */
export type FinalReply = Exclude<ServerReply, { kind: 'truncated' }>

interface PendingQuery {
  readonly query: Query
  readonly settle: (reply: ServerReply) => void
}

/**
 * One UDP socket, connected to one server: the kernel drops datagrams from anywhere else and reports ICMP errors. It sends at most
 * 256 queries with random ids, and closes as soon as none is in flight, so that probing finds no port while it is in use.
 */
export class UdpSocket {
  readonly #server: ServerAddress
  readonly #socket: Socket
  readonly #pending = new Map<number, PendingQuery>()
  #sent = 0
  #isConnected = false
  #isClosed = false

  constructor(server: ServerAddress) {
    this.#server = server
    this.#socket = createSocket({
      type: server.family === 6 ? 'udp6' : 'udp4',
      recvBufferSize: RECEIVE_BUFFER_BYTES,
    })
    // The timer of a look-up keeps the process alive while there is something to wait for; an idle socket must not.
    this.#socket.unref()
    this.#socket.on('message', (message, source) => this.#receive(message, source))
    this.#socket.on('error', () => this.#fail())
    // Not the callback of connect(), which would receive errors instead of the listener above.
    this.#socket.once('connect', () => this.#flush())
    this.#socket.connect(server.port, server.address)
  }

  /** Whether it takes further queries. Those in flight get their answers in any case. */
  get isOpen(): boolean {
    return !this.#isClosed && this.#sent < QUERIES_PER_SOCKET
  }

  /**
   * @param settle called at most once, later than this returns
   * @returns a function that cancels the query
   */
  send(query: Query, settle: (reply: ServerReply) => void): () => void {
    let id = randomInt(0x1_0000)
    while (this.#pending.has(id)) id = randomInt(0x1_0000)
    const pending = { query, settle }
    this.#pending.set(id, pending)
    if (this.#isConnected) this.#write(id, query)
    this.#sent++
    return () => {
      if (this.#pending.get(id) === pending) this.#remove(id)
    }
  }

  #flush(): void {
    this.#isConnected = true
    for (const [id, { query }] of this.#pending) this.#write(id, query)
  }

  #write(id: number, query: Query): void {
    // Without a callback, Node ignores errors of synchronous sends.
    this.#socket.send(messageWithId(query, id), this.#afterSend)
  }

  readonly #afterSend = (error: Error | null): void => {
    if (error !== null) this.#fail()
  }

  #receive(message: Buffer, source: RemoteInfo): void {
    // For some microseconds, until it was connected, the socket accepted datagrams from anyone.
    if (source.port !== this.#server.port || source.address !== this.#server.address) return
    const id = messageId(message)
    const pending = id === undefined ? undefined : this.#pending.get(id)
    if (id === undefined || pending === undefined) return
    const reply = readReply(message, pending.query)
    if (reply.kind === 'mismatch') return
    this.#remove(id)
    pending.settle(reply)
  }

  /** An error of a connected socket, usually ICMP "port unreachable", concerns all queries sent from it. */
  #fail(): void {
    const failed = [...this.#pending.values()]
    this.#pending.clear()
    this.#close()
    for (const { settle } of failed) settle({ kind: 'unreachable' })
  }

  #remove(id: number): void {
    this.#pending.delete(id)
    if (this.#pending.size === 0) this.#close()
  }

  #close(): void {
    if (!this.#isClosed) this.#socket.close()
    this.#isClosed = true
  }
}
