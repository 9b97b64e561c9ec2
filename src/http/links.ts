import type { FastifyRequest } from 'fastify'

/** A `Link` header (RFC 8288) to the next page: the same request with another cursor. */
export function nextLink(baseUrl: () => string, request: FastifyRequest, cursor: string): string {
  const base = new URL(baseUrl())
  // A client may also write a whole address in its request line: only the path is taken from it.
  const { pathname, searchParams } = new URL(request.raw.url ?? '', base)
  searchParams.set('cursor', cursor)
  return `<${base.origin}${pathname}?${searchParams}>; rel="next"`
}
