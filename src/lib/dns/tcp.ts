import { randomInt } from 'node:crypto'
import { connect } from 'node:net'
import { messageId, messageWithId, readReply, type Query } from './message.ts'
import type { ServerAddress } from './servers.ts'
import type { FinalReply } from './udp.ts'

const LENGTH_BYTES = 2

/**
 * Sends one query over a TCP connection, for an answer too large for UDP. Has no timeout: the look-up cancels it at its deadline.
 * @param settle called at most once, and not after the query is cancelled
 * @returns a function that cancels the query
 */
export function queryOverTcp(
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
