import { randomInt } from 'node:crypto'
import { connect } from 'node:net'
import { messageId, messageWithId, readReply, type Query } from './message.ts'
import type { ServerAddress } from './servers.ts'
import { UdpSocket, type FinalReply, type ServerReply } from './udp.ts'

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
