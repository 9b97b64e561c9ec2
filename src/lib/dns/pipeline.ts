import type { ServerAddress } from './servers.ts'
import { connect, type Socket } from 'node:net'
import { type PendingQuery, type Channel, Pending } from './pending.ts'
import { Frames } from './tcp.ts'
import { framedQuery, messageId, readReply } from './wire.ts'

/** Maximum queries in flight on the connection (additive increase with each answer, halved after a slow interval). */
const [INITIAL_WINDOW, MIN_WINDOW, MAX_WINDOW] = [64, 16, 8_192]
/**
 * Interval of the throughput check, in milliseconds. A server is slow if it answers neither `MIN_ANSWERS` queries nor
 * half of the pending ones in it: some resolvers process the queries of a connection one by one, but datagrams in
 * parallel. The latency of single answers says less, because they queue after thousands of others.
 */
const CHECK_MS = 150
const MIN_ANSWERS = 50
const CONNECT_MS = 1_000
/** Idle connections are closed after this time, because servers limit them (RFC 7766, section 6.2.3). */
const IDLE_MS = 1_000
/**
 * Answers that make a connection worth repeating even if it ended with open queries: some servers limit the queries
 * of a connection.
 */
const WORTHWHILE = 100

/**
 * Pipelines queries over one TCP connection, answered in any order (RFC 7766, section 6.2.1.1). The queries of one
 * turn of the event loop are one write, and a read yields many answers, which costs a fraction of as many
 * datagrams. When the connection stalls or ends, pending queries are dropped and then sent over UDP.
 */
class PipelineConnection implements Channel {
  readonly #socket: Socket
  readonly #onEnd: (isUseless: boolean) => void
  readonly #frames = new Frames()
  readonly #pending = new Pending()
  readonly #checks: NodeJS.Timeout
  #isOpen = false
  #hasEnded = false
  #window = INITIAL_WINDOW
  #answered = 0
  /** `pending` at the last check. */
  #pendingBefore = 0
  #answeredBefore = 0
  /** What to write next, in Latin-1. */
  #out = ''
  #lastAsked = performance.now()

  /** @param onEnd called once; useless if reconnecting soon is pointless */
  constructor(server: ServerAddress, onEnd: (isUseless: boolean) => void) {
    this.#onEnd = onEnd
    this.#socket = connect({
      host: server.address,
      port: server.port,
      family: server.family,
      noDelay: true,
      onread: { buffer: this.#frames.room, callback: (count) => this.#receive(count) },
    })
    this.#socket.unref()
    this.#socket.once('connect', () => (this.#isOpen = true))
    this.#socket.on('error', () => this.#end())
    this.#socket.on('close', () => this.#end())
    // After reading: if this process was blocked, the answers have arrived and are not late.
    this.#checks = setInterval(() => setImmediate(this.#check), CHECK_MS)
    this.#checks.unref()
  }

  get hasRoom(): boolean {
    return this.#isOpen && this.#pending.size < this.#window
  }

  ask(pendingQuery: PendingQuery): number {
    if (this.#out === '') {
      this.#lastAsked = performance.now()
      setImmediate(this.#flush)
    }
    const id = this.#pending.add(pendingQuery)
    this.#out += framedQuery(pendingQuery.query, id)
    return id
  }

  forget(id: number, pendingQuery: PendingQuery): void {
    this.#pending.delete(id, pendingQuery)
  }

  /** Drops pending queries without notifying them. */
  close(): void {
    this.#pending.drain()
    this.#end()
  }

  readonly #flush = (): void => {
    if (this.#hasEnded) return
    this.#socket.write(this.#out, 'latin1')
    this.#out = ''
  }

  #receive(count: number): boolean {
    this.#frames.received(count, this.#take)
    return true
  }

  readonly #take = (message: Buffer): void => {
    const id = messageId(message)
    const pendingQuery = id === undefined ? undefined : this.#pending.get(id)
    // A late answer to a cancelled query.
    if (id === undefined || pendingQuery === undefined) return
    const reply = readReply(message, pendingQuery.query)
    // Over TCP only the server can have sent it, so the server is at fault.
    if (reply.kind === 'mismatch') return this.#end()
    this.#pending.delete(id, pendingQuery)
    this.#answered++
    if (this.#window < MAX_WINDOW) this.#window++
    pendingQuery.replied(reply.kind === 'truncated' ? { kind: 'failed' } : reply)
  }

  readonly #check = (): void => {
    if (this.#hasEnded) return
    const waiting = this.#pendingBefore
    const answered = this.#answered - this.#answeredBefore
    this.#pendingBefore = this.#pending.size
    this.#answeredBefore = this.#answered
    if (!this.#isOpen || this.#pending.size === 0) {
      if (performance.now() - this.#lastAsked > (this.#isOpen ? IDLE_MS : CONNECT_MS)) this.#end()
      return
    }
    if (waiting === 0) return
    if (answered >= Math.min(MIN_ANSWERS, waiting / 2)) return
    // The last few of many may just be slow to resolve.
    if (answered === 0) this.#drop()
    else if (waiting < MIN_WINDOW) return
    this.#window >>= 1
    if (this.#window < MIN_WINDOW) this.#end()
  }

  #drop(): void {
    const open = this.#pending.drain()
    this.#pendingBefore = 0
    for (const pendingQuery of open) pendingQuery.dropped()
  }

  #end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#isOpen = false
    clearInterval(this.#checks)
    this.#socket.destroy()
    const isWorthwhile = this.#answered >= WORTHWHILE || (this.#pending.size === 0 && this.#answered > 0)
    this.#onEnd(!isWorthwhile || this.#window < MIN_WINDOW)
    this.#drop()
  }
}

/** Queries in flight to one server from which on a connection pays off. */
const BULK = 32
/** How long a server that refuses connections, or is not faster with them, is used over UDP only. */
const UDP_ONLY_MS = 300_000

/**
 * A TCP connection to one server during bulk look-ups. Queries never wait for it: while it is connecting, full or
 * closed, they are sent over UDP.
 */
export class Pipeline {
  readonly #server: ServerAddress
  #connection: PipelineConnection | undefined
  #barredUntil = 0

  constructor(server: ServerAddress) {
    this.#server = server
  }

  /** @param inFlight queries in flight to the server */
  channel(inFlight: number): PipelineConnection | undefined {
    if (this.#connection !== undefined) return this.#connection.hasRoom ? this.#connection : undefined
    if (inFlight >= BULK && performance.now() >= this.#barredUntil) this.#open()
    return undefined
  }

  close(): void {
    this.#barredUntil = Number.POSITIVE_INFINITY
    this.#connection?.close()
  }

  #open(): void {
    this.#connection = new PipelineConnection(this.#server, (isUseless) => {
      this.#connection = undefined
      if (isUseless) this.#barredUntil = Math.max(this.#barredUntil, performance.now() + UDP_ONLY_MS)
    })
  }
}
