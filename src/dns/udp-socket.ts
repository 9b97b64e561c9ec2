import { createSocket } from 'node:dgram'
import type { RemoteInfo, Socket } from 'node:dgram'
import { randomUint16 } from './random.ts'
import type { ServerAddress } from './servers.ts'
import { messageId, messageWithId, readReply } from './wire.ts'
import type { Query, Reply } from './wire.ts'

/** What came of asking one server: its reply, or word that it cannot be reached. */
export type ServerReply = Exclude<Reply, { kind: 'mismatch' }> | { readonly kind: 'unreachable' }

interface Pending {
  readonly query: Query
  readonly settle: (reply: ServerReply) => void
}

/** Far below 65,536, so that a free id is found at once and guessing one stays hopeless. */
const MAX_PENDING = 4_096

/**
 * One UDP socket, connected to one server: the kernel drops datagrams from anywhere else and reports ICMP errors.
 * Several queries share it, told apart by their ids. It closes by itself once it is retired and nothing is pending.
 */
export class UdpSocket {
  readonly bornAt = performance.now()
  queries = 0
  retired = false
  readonly #server: ServerAddress
  readonly #socket: Socket
  readonly #pending = new Map<number, Pending>()
  readonly #onClosed: () => void
  readonly #closed: Promise<void>
  #connected = false
  #closing = false

  constructor(server: ServerAddress, onClosed: () => void) {
    this.#server = server
    this.#onClosed = onClosed
    this.#socket = createSocket(server.family === 6 ? 'udp6' : 'udp4')
    // The timer of a look-up keeps the process up while there is something to wait for; an idle socket must not.
    this.#socket.unref()
    this.#closed = new Promise((resolve) => this.#socket.once('close', resolve))
    this.#socket.on('message', (message, source) => this.#receive(message, source))
    this.#socket.on('error', () => this.#fail())
    // Not the callback of connect(): given one, Node hands errors to it instead of the listener above.
    this.#socket.once('connect', () => this.#flush())
    this.#socket.connect(server.port, server.address)
  }

  ask(query: Query, settle: (reply: ServerReply) => void): () => void {
    if (this.#pending.size >= MAX_PENDING) {
      queueMicrotask(() => settle({ kind: 'unreachable' }))
      return () => undefined
    }
    let id = randomUint16()
    while (this.#pending.has(id)) id = randomUint16()
    this.queries++
    const pending: Pending = { query, settle }
    this.#pending.set(id, pending)
    if (this.#connected) this.#send(id, query)
    return () => {
      if (this.#pending.get(id) === pending) this.#settled(id)
    }
  }

  /** Takes no more queries; those under way still get their answers. */
  retire(): void {
    this.retired = true
    if (this.#pending.size === 0) void this.close()
  }

  /** Drops what is pending without a word. */
  close(): Promise<void> {
    this.retired = true
    this.#pending.clear()
    if (!this.#closing) {
      this.#closing = true
      this.#onClosed()
      this.#socket.close()
    }
    return this.#closed
  }

  #flush(): void {
    this.#connected = true
    for (const [id, { query }] of this.#pending) this.#send(id, query)
  }

  #send(id: number, query: Query): void {
    // Without a callback Node swallows the errors of a send that it could do at once.
    this.#socket.send(messageWithId(query, id), this.#afterSend)
  }

  readonly #afterSend = (error: Error | null): void => {
    if (error !== null) this.#fail()
  }

  #receive(message: Buffer, source: RemoteInfo): void {
    // Until it was connected, for some microseconds, the socket took datagrams from anyone.
    if (source.port !== this.#server.port || source.address !== this.#server.address) return
    const id = messageId(message)
    if (id === undefined) return
    const pending = this.#pending.get(id)
    if (pending === undefined) return
    const reply = readReply(message, pending.query)
    if (reply.kind === 'mismatch') return
    this.#settled(id)
    pending.settle(reply)
  }

  /** An error of a connected socket, as a rule ICMP "port unreachable", concerns all that was sent from it. */
  #fail(): void {
    const failed = [...this.#pending.values()]
    void this.close()
    for (const { settle } of failed) settle({ kind: 'unreachable' })
  }

  #settled(id: number): void {
    this.#pending.delete(id)
    if (this.retired && this.#pending.size === 0) void this.close()
  }
}
