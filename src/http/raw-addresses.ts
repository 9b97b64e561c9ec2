import type { Socket } from 'node:net'
import type { RawError } from './raw-errors.ts'

const REQUEST_LINE = /^[A-Z]+ [^ \r\n]+ HTTP\/1\.[01]\r?\n/
const BEYOND_ASCII = /[\x80-\xff]/g

/**
 * `curl '…?search=ñandú'` sends the letters as they are, which no address may hold (RFC 3986) and Node's parser refuses.
 * RFC 9112, section 3, would rather have a redirect than a correction, lest somebody passes by a filter: but bytes above
 * 127 delimit nothing, so that escaping them changes no part of the request but themselves.
 * @returns the same request with these bytes escaped, the last one of its connection; undefined for any other error
 */
function withEscapedAddress({ code, rawPacket }: RawError): Buffer | undefined {
  if (code !== 'HPE_INVALID_URL' || !Buffer.isBuffer(rawPacket)) return undefined
  const line = REQUEST_LINE.exec(rawPacket.toString('latin1'))?.[0]
  const escaped = line?.replace(BEYOND_ASCII, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`)
  if (line === undefined || escaped === undefined || line === escaped) return undefined
  return Buffer.concat([Buffer.from(`${escaped}connection: close\r\n`), rawPacket.subarray(line.length)])
}

/**
 * Has a request whose address holds letters beyond ASCII read once more, as it should have been sent.
 * @param accept what a server does with a new connection
 * @returns false when this is not what was wrong
 */
export function readAgain(error: RawError, socket: Socket, accept: (socket: Socket) => void): boolean {
  const request = withEscapedAddress(error)
  // Behind an answer that is still being written the connection is not ours.
  if (request === undefined || Boolean(Reflect.get(socket, '_httpMessage'))) return false
  socket.pause()
  // From here on what arrives goes through the stream, no longer to the first parser at once.
  socket.on('data', () => {})
  // That one is let go when the connection closes.
  for (const event of ['data', 'end', 'error', 'drain', 'timeout']) socket.removeAllListeners(event)
  socket.unshift(request)
  accept(socket)
  socket.resume()
  return true
}
