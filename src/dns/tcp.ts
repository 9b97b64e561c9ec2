import { connect } from 'node:net'
import { randomUint16 } from './random.ts'
import type { ServerAddress } from './servers.ts'
import type { ServerReply } from './udp-socket.ts'
import { encodeQuery, messageId, readReply } from './wire.ts'
import type { Query } from './wire.ts'

/**
 * One query over one TCP connection of its own. `settle` is called at most once and not after the cancel it gives.
 * There is no time-out here: the look-up cancels at its deadline. At most 64 KiB are ever buffered, the largest
 * message there is.
 */
export function askOverTcp(
  server: ServerAddress,
  query: Query,
  settle: (reply: ServerReply) => void,
): () => void {
  const id = randomUint16()
  const socket = connect({ host: server.address, port: server.port, family: server.family, noDelay: true })
  let received = Buffer.alloc(0)
  let done = false

  const finish = (reply: ServerReply): void => {
    if (done) return
    done = true
    socket.destroy()
    settle(reply)
  }
  socket.on('connect', () => socket.write(framed(encodeQuery(query, id))))
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    if (received.length < 2) return
    const end = 2 + received.readUInt16BE(0)
    if (received.length >= end) finish(judge(received.subarray(2, end), query, id))
  })
  // Refused, reset or closed before the whole answer was there: the server is up, as its truncated answer showed.
  socket.on('error', () => finish({ kind: 'failed' }))
  socket.on('close', () => finish({ kind: 'failed' }))
  return () => {
    done = true
    socket.destroy()
  }
}

function framed(message: Buffer): Buffer {
  const length = Buffer.allocUnsafe(2)
  length.writeUInt16BE(message.length)
  return Buffer.concat([length, message])
}

/** On a connection of its own a wrong or again truncated message cannot be a stray one: the server is at fault. */
function judge(message: Buffer, query: Query, id: number): ServerReply {
  if (messageId(message) !== id) return { kind: 'failed' }
  const reply = readReply(message, query)
  return reply.kind === 'mismatch' || reply.kind === 'truncated' ? { kind: 'failed' } : reply
}
