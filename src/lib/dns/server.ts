import { randomInt } from 'node:crypto'
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { connect } from 'node:net'
import type { Answer, Reply, QueryType } from './classify.ts'
import { messageId, messageWithId, readReply, type Query } from './message.ts'
import { type ServerAddress, formatServer } from './servers.ts'

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

const LENGTH_BYTES = 2

/**
 * Sends one query over a TCP connection, for an answer too large for UDP. Has no timeout: the look-up cancels it at its deadline.
 * @param settle called at most once, and not after the query is cancelled
 * @returns a function that cancels the query
 */
function queryOverTcp(
  { address, port, family }: ServerAddress,
  query: Query,
  settle: (reply: FinalReply) => void,
): () => void {
  const id = randomInt(0x1_0000)
  const request = messageWithId(query, id)
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt16BE(request.length)
  let received = Buffer.alloc(0)
  const socket = connect({ host: address, port, family })
  const cancel = (): void => {
    socket.removeAllListeners('close')
    socket.destroy()
  }
  socket.write(Buffer.concat([length, request]))
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk])
    const end = received.length < LENGTH_BYTES ? undefined : LENGTH_BYTES + received.readUInt16BE()
    if (end === undefined || received.length < end) return
    cancel()
    settle(readWhole(received.subarray(LENGTH_BYTES, end), query, id))
  })
  // Refused, reset or closed before the whole answer arrived. The server is up, because it sent a truncated answer.
  socket.on('error', () => undefined)
  socket.on('close', () => settle({ kind: 'failed' }))
  return cancel
}

/** Only the server itself can have sent a message on this connection, so a wrong or again truncated one is its fault. */
function readWhole(message: Buffer, query: Query, id: number): FinalReply {
  if (messageId(message) !== id) return { kind: 'failed' }
  const reply = readReply(message, query)
  return reply.kind === 'mismatch' || reply.kind === 'truncated' ? { kind: 'failed' } : reply
}

/** An answer, and until when it may be used, in milliseconds of the clock. */
interface LastingAnswer {
  readonly answer: Answer
  readonly expires: number
}

/** The servers of a zone are to be found. */
export interface ZoneSource {
  readonly zone: string
  /** Finds them. */
  readonly through: { resolve(name: string, type: QueryType): LastingAnswer | Promise<LastingAnswer> }
  /** Port of the servers; 53 except in tests. */
  readonly port?: number
}

/** TLDs have about a dozen servers; more would not help. */
const MAX_SERVERS = 16
/** Pause after a search that found none, in milliseconds. */
const RETRY_MS = 5_000

/** Finds the authoritative servers of a zone, keeps them for their TTL, and then finds them again in the background. */
export class ZoneServers {
  readonly #source: ZoneSource
  readonly #now: () => number
  #servers: readonly Server[] = []
  #addresses = ''
  #expires = Number.NEGATIVE_INFINITY
  #search: Promise<readonly Server[]> | undefined

  /** @param now a monotonic clock in milliseconds */
  constructor(source: ZoneSource, now: () => number) {
    this.#source = source
    this.#now = now
  }

  /** Returns the known servers, or a promise of them; none if they cannot be found now. Never rejects. */
  get(): readonly Server[] | Promise<readonly Server[]> {
    if (this.#now() >= this.#expires) this.#search ??= this.#find()
    return this.#servers.length === 0 && this.#search !== undefined ? this.#search : this.#servers
  }

  async #find(): Promise<readonly Server[]> {
    const { addresses, expires } = await this.#findAddresses()
    this.#search = undefined
    this.#expires = expires
    const text = addresses.map(formatServer).join()
    // Servers that cannot be found again are used on.
    if (addresses.length > 0 && text !== this.#addresses) {
      this.#servers = addresses.map((address) => new Server(address, this.#now))
      this.#addresses = text
    }
    return this.#servers
  }

  async #findAddresses(): Promise<{ addresses: readonly ServerAddress[]; expires: number }> {
    const { zone, through } = this.#source
    const { answer, expires } = await through.resolve(zone, 'ns')
    const names = answer.kind === 'found' ? answer.servers.slice(0, MAX_SERVERS) : []
    // IPv6 only if there is nothing else: many machines have IPv6 addresses without connectivity.
    for (const family of [4, 6] as const) {
      const found = await this.#resolveAddresses(names, family)
      if (found.addresses.length > 0) return { ...found, expires: Math.min(expires, found.expires) }
    }
    return { addresses: [], expires: this.#now() + RETRY_MS }
  }

  async #resolveAddresses(names: readonly string[], family: 4 | 6) {
    const { through, port = 53 } = this.#source
    const results = await Promise.all(
      names.map(async (name) => through.resolve(name, family === 4 ? 'a' : 'aaaa')),
    )
    // A server whose address cannot be found does not affect the others.
    const found = results.filter(({ answer }) => answer.kind === 'records')
    const addresses = new Set(
      found.flatMap(({ answer }) => (answer.kind === 'records' ? answer.records : [])),
    )
    return {
      addresses: [...addresses]
        .filter((address) => typeof address === 'string')
        .slice(0, MAX_SERVERS)
        .map((address) => ({ address, family, port })),
      expires: Math.min(...found.map(({ expires }) => expires)),
    }
  }
}
