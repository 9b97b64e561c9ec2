import { randomInt } from 'node:crypto'
import type { ServerAddress } from './servers.ts'
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { type PendingQuery, type Channel, Pending } from './pending.ts'
import { encodeQuery, messageId, readReply, type Query } from './wire.ts'

/** Far below 65,536, so that drawing a free id is fast and guessing one is infeasible. */
const MAX_PENDING = 4_096
/** Ports change this often, so that probing cannot find one while it is in use. */
const MAX_QUERIES_PER_SOCKET = 512
const MAX_AGE_MS = 10_000
/** The id of a query that was not sent. */
const NO_ID = -1

/**
 * One UDP socket, connected to one server: the kernel drops datagrams from anywhere else and reports ICMP errors.
 * Several queries share it, identified by their ids. Closes when it is retired and nothing is pending.
 */
export class UdpSocket implements Channel {
  queries = 0
  retired = false
  readonly #server: ServerAddress
  readonly #socket: Socket
  readonly #pending = new Pending()
  readonly #onClosed: () => void
  readonly #closed: Promise<void>
  readonly #expiry: NodeJS.Timeout
  #connected = false
  #closing = false

  constructor(server: ServerAddress, onClosed: () => void) {
    this.#server = server
    this.#onClosed = onClosed
    this.#socket = createSocket(server.family === 6 ? 'udp6' : 'udp4')
    // The timer of a look-up keeps the process alive while there is something to wait for; an idle socket must not.
    this.#socket.unref()
    this.#closed = new Promise((resolve) => this.#socket.once('close', resolve))
    this.#socket.on('message', (message, source) => this.#receive(message, source))
    this.#socket.on('error', () => this.#fail())
    // Not the callback of connect(), which would receive errors instead of the listener above.
    this.#socket.once('connect', () => this.#flush())
    this.#socket.connect(server.port, server.address)
    this.#expiry = setTimeout(() => this.retire(), MAX_AGE_MS).unref()
  }

  ask(pendingQuery: PendingQuery): number {
    if (this.#pending.size >= MAX_PENDING) {
      queueMicrotask(() => pendingQuery.replied({ kind: 'unreachable' }))
      return NO_ID
    }
    const id = this.#pending.add(pendingQuery)
    this.queries++
    if (this.#connected) this.#send(id, pendingQuery.query)
    return id
  }

  forget(id: number, pendingQuery: PendingQuery): void {
    if (this.#pending.delete(id, pendingQuery)) this.#settled()
  }

  /** Stops accepting queries. Those in flight still get their answers. */
  retire(): void {
    this.retired = true
    if (this.#pending.size === 0) void this.close()
  }

  /** Drops pending queries without notifying them. */
  close(): Promise<void> {
    this.retired = true
    this.#pending.drain()
    if (!this.#closing) {
      this.#closing = true
      clearTimeout(this.#expiry)
      this.#onClosed()
      this.#socket.close()
    }
    return this.#closed
  }

  #flush(): void {
    this.#connected = true
    this.#pending.each((id, { query }) => this.#send(id, query))
  }

  #send(id: number, query: Query): void {
    // Without a callback, Node ignores errors of synchronous sends.
    this.#socket.send(encodeQuery(query, id), this.#afterSend)
  }

  readonly #afterSend = (error: Error | null): void => {
    if (error !== null) this.#fail()
  }

  #receive(message: Buffer, source: RemoteInfo): void {
    // For some microseconds, until it was connected, the socket accepted datagrams from anyone.
    if (source.port !== this.#server.port || source.address !== this.#server.address) return
    const id = messageId(message)
    if (id === undefined) return
    const pending = this.#pending.get(id)
    if (pending === undefined) return
    const reply = readReply(message, pending.query)
    if (reply.kind === 'mismatch') return
    this.#pending.delete(id, pending)
    this.#settled()
    pending.replied(reply)
  }

  /** An error of a connected socket, usually ICMP "port unreachable", concerns all queries sent from it. */
  #fail(): void {
    const failed = this.#pending.drain()
    void this.close()
    for (const pendingQuery of failed) pendingQuery.replied({ kind: 'unreachable' })
  }

  #settled(): void {
    if (this.retired && this.#pending.size === 0) void this.close()
  }
}

/**
 * The UDP sockets that look-ups share for one server. Each query uses a random one; sockets, and so source ports,
 * are replaced after 512 queries or 10 seconds. A forger has to guess both port and id (RFC 5452), without the cost
 * of a socket per query.
 */
export class UdpPool {
  readonly #server: ServerAddress
  readonly #slots: (UdpSocket | undefined)[]
  readonly #open = new Set<UdpSocket>()

  constructor(server: ServerAddress, size: number) {
    this.#server = server
    this.#slots = Array.from({ length: size }, () => undefined)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open].map((socket) => socket.close()))
  }

  /** Returns the socket for the next query. */
  pick(): UdpSocket {
    const index = randomInt(this.#slots.length)
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
}
