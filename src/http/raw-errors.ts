import type { Socket } from 'node:net'
import { refusalOf } from './errors.ts'
import { headerLines, PRIVATE_HEADERS } from './ready-head.ts'

/** The longest address answered. */
export const MAX_URL_BYTES = 8_192

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  414: 'URI Too Long',
  431: 'Request Header Fields Too Large',
}

export interface RawError {
  readonly code: string
  readonly rawPacket: unknown
}

/**
 * Answers what Node's parser refused before there was a request: the same JSON as every other error. The
 * connection cannot be used again, because nobody knows where the next request starts.
 */
export function answerRawError(error: RawError, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const status = statusOf(error)
  const body = JSON.stringify(refusalOf(status).body())
  socket.end(
    `HTTP/1.1 ${status} ${REASONS[status] ?? 'Bad Request'}\r\n` +
      headerLines(Object.entries(PRIVATE_HEADERS).flat()) +
      'content-type: application/json; charset=utf-8\r\n' +
      `cache-control: no-store\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
  // A client that never reads nor closes must not keep the socket.
  socket.setTimeout(5_000, () => socket.destroy())
}

function statusOf(error: RawError): number {
  switch (error.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 408
    case 'HPE_HEADER_OVERFLOW':
      return Buffer.isBuffer(error.rawPacket) && hasLongAddress(error.rawPacket) ? 414 : 431
    default:
      return 400
  }
}

/** Whether what was read last begins with a request line that is too long by itself. */
function hasLongAddress(packet: Buffer): boolean {
  const lineEnd = packet.indexOf('\r\n')
  return (lineEnd === -1 || lineEnd > MAX_URL_BYTES) && /^[A-Z]+ /.test(packet.toString('latin1', 0, 32))
}
