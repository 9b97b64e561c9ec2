import type { FastifyReply, FastifyRequest } from 'fastify'
import { badParameter } from './errors.ts'
import { withCorsHeaders } from './cors.ts'
import type { IncomingHttpHeaders } from 'node:http'

/** For every authenticated response and every error: not to be stored by caches, nor sniffed by browsers. */
export const PRIVATE_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
export const JSON_TYPE = 'application/json; charset=utf-8'

/**
 * Returns the public address of a request, with its query.
 * @param url the request target as received
 */
export function publicUrl(baseUrl: () => string, url: string): string {
  const { address, query } = publicAddress(baseUrl, url)
  return query === '' ? address : `${address}?${query}`
}

function publicAddress(baseUrl: () => string, url: string) {
  const { origin } = new URL(baseUrl())
  // `//host/path` parses as a URL of another host, of which only the path and the query are used.
  const { pathname, search } = new URL(url, origin)
  return { address: origin + pathname, query: search.slice(1) }
}

/**
 * Returns a `Link` header (RFC 8288) to the next page: the same request with another cursor.
 * @param url the request target as received
 */
export function nextLink(baseUrl: () => string, url: string, cursor: string): string {
  const { address, query } = publicAddress(baseUrl, url)
  const others = query.split('&').filter((pair) => pair !== '' && !pair.startsWith('cursor='))
  const pairs = [...others, `cursor=${encodeURIComponent(cursor)}`].join('&')
  // Clients split the header at these.
  return `<${address}?${pairs.replace(/[,;]/g, encodeURIComponent)}>; rel="next"`
}

/** The request and the answer of a call. */
interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/**
 * Returns the rows of a page, and links to the next page if there is one.
 * @param rows one more than the page takes, if there are more
 * @param cursorAfter returns the cursor of the page after a row
 */
export function toPage<Row>(
  { request, reply }: Exchange,
  baseUrl: () => string,
  rows: readonly Row[],
  limit: number,
  cursorAfter: (last: Row) => string,
): readonly Row[] {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  if (rows.length > limit && last !== undefined)
    reply.header('link', nextLink(baseUrl, request.raw.url ?? '', cursorAfter(last)))
  return shown
}

/** The error for a cursor that is not of such a link. */
export const invalidCursor = () =>
  badParameter('cursor', 'debe ser el de la cabecera Link de la página anterior')

/** Up to this size, copying a body into a string is faster than a write of two parts; above it, the copies burden the collector. */
const MAX_COPIED_BYTES = 1024

/**
 * Sends a body from memory, bypassing Fastify's `onSend` and the headers that were set on `reply`. Node combines head and body
 * into one write only if the body is a string.
 * @param headers names in lower case and values in turn; CORS headers are added
 */
export function sendBytes(
  reply: FastifyReply,
  status: number,
  headers: readonly string[],
  body: Uint8Array | undefined,
): FastifyReply {
  const { request } = reply
  const response = reply.hijack().raw.writeHead(status, withCorsHeaders(request.cors, headers))
  if (body === undefined || request.method === 'HEAD') response.end()
  else if (body.byteLength > MAX_COPIED_BYTES) response.end(body)
  else response.end(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1'), 'latin1')
  request.server.unsentResponses.track(request, response, body)
  return reply
}

/** Returns whether `If-None-Match` matches an entity tag (RFC 9110, section 13.1.2: weak comparison). */
export function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch === etag || ifNoneMatch.trim() === '*') return true
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
}

export type Range =
  /** No range, an unsupported one, or one whose `If-Range` does not match. */
  | { readonly kind: 'whole' }
  /** Bytes from `start` to `end`, inclusive. */
  | { readonly kind: 'part'; readonly start: number; readonly end: number }
  | { readonly kind: 'unsatisfiable' }

const WHOLE: Range = { kind: 'whole' }

/**
 * Parses `Range` (RFC 9110, section 14.2) for a representation of `size` bytes. Multiple ranges are ignored, which the RFC allows:
 * thousands of tiny ones are an attack.
 */
export function readRange(headers: IncomingHttpHeaders, size: number, etag: string): Range {
  const header = headers.range
  if (header === undefined) return WHOLE
  const ifRange = headers['if-range']
  if (ifRange !== undefined && ifRange !== etag) return WHOLE
  const match = /^bytes=(\d*)-(\d*)$/i.exec(header.replaceAll(/[ \t]/g, ''))
  const [, first = '', last = ''] = match ?? []
  if (match === null || (first === '' && last === '')) return WHOLE
  if (first === '') {
    const length = Math.min(Number(last), size)
    return length === 0 ? { kind: 'unsatisfiable' } : { kind: 'part', start: size - length, end: size - 1 }
  }
  const start = Number(first)
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && Number(last) < start) return WHOLE
  return start >= size ? { kind: 'unsatisfiable' } : { kind: 'part', start, end }
}
