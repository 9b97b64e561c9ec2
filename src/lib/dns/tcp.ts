import { connect } from 'node:net'
import type { ServerReply } from './pending.ts'
import { frameLength, Frames, writeFrame } from './frames.ts'
import { randomInt } from 'node:crypto'
import type { ServerAddress } from './servers.ts'
import { messageId, readReply } from './wire.ts'
import type { Query } from './wire.ts'

/**
 * Sends one query over a separate TCP connection, for an answer too large for UDP. `settle` is called at most once,
 * and not after the returned function cancels the query. Has no timeout: the look-up cancels at its deadline.
 */
export function queryOverTcp(
  server: ServerAddress,
  query: Query,
  settle: (reply: ServerReply) => void,
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
  socket.on('connect', () => socket.write(framed(query, id)))
  // Refused, reset or closed before the whole answer arrived. The server is up, because it sent a truncated answer.
  socket.on('error', () => finish({ kind: 'failed' }))
  socket.on('close', () => finish({ kind: 'failed' }))
  return () => {
    done = true
    socket.destroy()
  }
}

function framed(query: Query, id: number): Buffer {
  const frame = Buffer.allocUnsafe(frameLength(query))
  writeFrame(frame, 0, query, id)
  return frame
}

/** On a separate connection, a wrong or again truncated message cannot be stray, so the server is at fault. */
function judge(message: Buffer, query: Query, id: number): ServerReply {
  if (messageId(message) !== id) return { kind: 'failed' }
  const reply = readReply(message, query)
  return reply.kind === 'mismatch' || reply.kind === 'truncated' ? { kind: 'failed' } : reply
}
