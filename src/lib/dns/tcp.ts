import { randomInt } from 'node:crypto'
import { connect } from 'node:net'
import type { ServerReply } from './pending.ts'
import type { ServerAddress } from './servers.ts'
import { framedQuery, messageId, readReply, type Query } from './wire.ts'

/** The largest possible message, with its length prefix. */
const MAX_FRAME_BYTES = 2 + 65_535

/** Reads the messages of a TCP connection, each with a two-octet length prefix (RFC 1035, section 4.2.2). */
export class Frames {
  /** Has room for a whole message after an incomplete one. */
  readonly #buffer = Buffer.allocUnsafeSlow(2 * MAX_FRAME_BYTES)
  #filled = 0

  /** Where the socket writes the octets that it reads next. Never empty. */
  readonly room = (): Buffer => this.#buffer.subarray(this.#filled)

  /**
   * @param count octets that were written to `room`
   * @param each called with each complete message, which is valid only until it returns
   */
  received(count: number, each: (message: Buffer) => void): void {
    const buffer = this.#buffer
    const filled = this.#filled + count
    let at = 0
    while (at + 2 <= filled) {
      const end = at + 2 + (((buffer[at] ?? 0) << 8) | (buffer[at + 1] ?? 0))
      if (end > filled) break
      each(buffer.subarray(at + 2, end))
      at = end
    }
    if (at > 0) buffer.copyWithin(0, at, filled)
    this.#filled = filled - at
  }
}

/**
 * Sends one query over a separate TCP connection, for an answer too large for UDP. `settle` is called at most once,
 * and not after the returned function cancels the query; `closed` once, when the connection has ended. Has no timeout: the
 * look-up cancels at its deadline.
 */
export function queryOverTcp(
  server: ServerAddress,
  query: Query,
  settle: (reply: ServerReply) => void,
  closed: () => void,
): () => void {
  const id = randomInt(0x1_0000)
  const frames = new Frames()
  let done = false
  const finish = (reply: ServerReply): void => {
    if (done) return
    done = true
    socket.destroy()
    settle(reply)
  }
  const socket = connect({
    host: server.address,
    port: server.port,
    family: server.family,
    noDelay: true,
    onread: {
      buffer: frames.room,
      callback(count) {
        frames.received(count, (message) => finish(judge(message, query, id)))
        return true
      },
    },
  })
  socket.on('connect', () => socket.write(framedQuery(query, id), 'latin1'))
  // Refused, reset or closed before the whole answer arrived. The server is up, because it sent a truncated answer.
  socket.on('error', () => finish({ kind: 'failed' }))
  socket.on('close', () => {
    closed()
    finish({ kind: 'failed' })
  })
  return () => {
    done = true
    socket.destroy()
  }
}

/** On a separate connection, a wrong or again truncated message cannot be stray, so the server is at fault. */
function judge(message: Buffer, query: Query, id: number): ServerReply {
  if (messageId(message) !== id) return { kind: 'failed' }
  const reply = readReply(message, query)
  return reply.kind === 'mismatch' || reply.kind === 'truncated' ? { kind: 'failed' } : reply
}
