import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { toHttpError } from './errors.ts'
import { JSON_TYPE, PRIVATE_HEADERS } from './headers.ts'
import { Duplex } from 'node:stream'

/**
 * A connection that starts with other bytes than were received, and continues with what its socket receives next. Node's server
 * handles it like an accepted socket.
 */
class ReplayedConnection extends Duplex {
  readonly remoteAddress: string | undefined
  readonly original: Socket

  constructor(socket: Socket, head: Buffer) {
    super()
    this.original = socket
    this.remoteAddress = socket.remoteAddress
    this.push(head)
    socket.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) socket.pause()
    })
    socket.on('end', () => this.push(null))
    socket.on('error', (error) => this.destroy(error))
    socket.on('close', () => this.destroy())
  }

  /** Called by Node's server. */
  setTimeout(ms: number): this {
    this.original.setTimeout(ms)
    return this
  }

  /** Closes the connection when all writes are sent, as the method of a socket does. */
  destroySoon(): void {
    if (this.writable) this.end()
    if (this.writableFinished) this.destroy()
    else this.once('finish', () => this.destroy())
  }

  override _read(): void {
    this.original.resume()
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.original.write(chunk, done)
  }

  override _final(done: () => void): void {
    this.original.end(done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.original.destroy()
    done(error)
  }
}

/** Returns the socket that a replayed connection reads from; undefined for any other connection. */
export const getOriginal = (connection: Duplex): Socket | undefined =>
  connection instanceof ReplayedConnection ? connection.original : undefined

/** Longest URL accepted. */
export const MAX_URL_BYTES = 8_192
/** How long a client may take to read an error response and close the connection. */
const ERROR_TIMEOUT_MS = 5_000

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  414: 'URI Too Long',
  431: 'Request Header Fields Too Large',
}
/** `host[:port]`, with a name, an IPv4 or a bracketed IPv6 address, or nothing (RFC 9110, section 7.2). */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+;=%-]*)(?::\d*)?$/i
const REQUEST_LINE = /^[A-Z]+ [^ \r\n]+ HTTP\/1\.[01]\r?\n/
const NON_ASCII = /[\x80-\xff]/g

let lastValidHost = ''

/**
 * Whether a request has exactly one valid `Host`; in HTTP/1.0 it may have none (RFC 9112, section 3.2). With two of them, a
 * proxy in front could have believed the other one.
 */
export function hasValidHost({ rawHeaders, headers, httpVersion }: IncomingMessage): boolean {
  const { host } = headers
  if (host === undefined) return httpVersion !== '1.1'
  if (host !== lastValidHost) {
    if (!HOST.test(host)) return false
    lastValidHost = host
  }
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts === 1
}

interface ParserError {
  readonly code: string
  readonly rawPacket: unknown
}

/** Sockets whose bytes are read by a second parser; Node's first one keeps reporting errors about them. */
const replayed = new WeakSet<Socket>()

/**
 * Handles what Node's HTTP parser rejects: reads a request with a non-ASCII URL again, with that escaped, and answers everything
 * else with the same JSON as every other error.
 * @param isBusy whether an earlier response is still being written on the connection
 */
export function handleParserError(error: ParserError, socket: Socket, server: Server, isBusy: boolean): void {
  if (replayed.has(socket)) return
  const escaped = isBusy ? undefined : withEscapedUrl(error)
  if (escaped === undefined) return sendParserError(error, socket)
  replayed.add(socket)
  server.emit('connection', new ReplayedConnection(socket, escaped))
}

/**
 * `curl '…?search=ñandú'` sends the letters as they are, which a URL may not contain (RFC 3986) and Node's parser rejects.
 * RFC 9112, section 3, prefers an error to a correction, because a corrected request could bypass a filter; but bytes above
 * 127 delimit nothing, so escaping them changes no other part of the request.
 * @returns the same request with these bytes escaped, the last one on its connection; undefined for any other error
 */
function withEscapedUrl({ code, rawPacket }: ParserError): Buffer | undefined {
  if (code !== 'HPE_INVALID_URL' || !Buffer.isBuffer(rawPacket)) return undefined
  const line = REQUEST_LINE.exec(rawPacket.toString('latin1'))?.[0]
  const escaped = line?.replace(NON_ASCII, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`)
  if (line === undefined || escaped === undefined || line === escaped) return undefined
  return Buffer.concat([Buffer.from(`${escaped}connection: close\r\n`), rawPacket.subarray(line.length)])
}

/** Closes the connection, because it is unknown where the next request starts. */
function sendParserError(error: ParserError, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const status = toStatus(error)
  const body = JSON.stringify(toHttpError(status).body())
  const headers = {
    ...PRIVATE_HEADERS,
    'content-type': JSON_TYPE,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${REASONS[status] ?? 'Bad Request'}\r\n${lines.join('')}\r\n${body}`)
  // A client that neither reads nor closes must not keep the socket.
  socket.setTimeout(ERROR_TIMEOUT_MS, () => socket.destroy())
}

function toStatus(error: ParserError): number {
  switch (error.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 408
    case 'HPE_HEADER_OVERFLOW':
      return Buffer.isBuffer(error.rawPacket) && hasLongUrl(error.rawPacket) ? 414 : 431
    default:
      return 400
  }
}

/** Whether the last packet begins with a request line that is too long on its own. */
function hasLongUrl(packet: Buffer): boolean {
  const lineEnd = packet.indexOf('\r\n')
  return (lineEnd === -1 || lineEnd > MAX_URL_BYTES) && /^[A-Z]+ /.test(packet.toString('latin1', 0, 32))
}

const ABSOLUTE_FORM = /^https?:\/\/[^/?#]*/i

/**
 * Returns the path and the query of a request target. Clients may also send `http://host/path`, as they do to proxies (RFC 9112,
 * section 3.2.2).
 */
export function originForm(target = '/'): string {
  if (target.startsWith('/')) return target
  const path = target.replace(ABSOLUTE_FORM, '')
  return path === target || path.startsWith('/') ? path : `/${path}`
}
