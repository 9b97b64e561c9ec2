import type { FastifyRequest } from 'fastify'

/** A `Link` header (RFC 8288) to the next page: the same request with another cursor. */
export function nextLink(baseUrl: () => string, request: FastifyRequest, cursor: string): string {
  const [path = '', query = ''] = (request.raw.url ?? '').split('?', 2)
  const parameters = new URLSearchParams(query)
  parameters.set('cursor', cursor)
  return `<${new URL(baseUrl()).origin}${path}?${parameters}>; rel="next"`
}
