import type { FastifyInstance } from 'fastify'

const METHODS = 'GET, HEAD, POST, DELETE'
const EXPOSED = ['access-control-expose-headers', 'Link, Retry-After, ETag'] as const
const NONE: readonly string[] = []
/** Seconds for which a browser need not ask again. */
const MAX_AGE = '86400'

/** What an answer says to a page of this origin, names and values in turn. */
export type CorsHeaders = (origin: string | undefined) => readonly string[]

/** @param origins those that may call; `*` among them for all, none at all for none */
export function corsHeaders(origins: readonly string[]): CorsHeaders {
  if (origins.length === 0) return () => NONE
  if (origins.includes('*')) {
    const headers = ['access-control-allow-origin', '*', ...EXPOSED]
    return () => headers
  }
  // What depends on the origin must say so to caches in between.
  const others = ['vary', 'Origin', ...EXPOSED]
  const allowed = new Map(
    origins.map((origin) => [origin, ['access-control-allow-origin', origin, ...others]] as const),
  )
  return (origin) => allowed.get(origin ?? '') ?? others
}

/** Answers preflights, and says on every answer who may read it. */
export function allowOrigins(app: FastifyInstance, headersFor: CorsHeaders): void {
  app.addHook('onRequest', (request, reply, done) => {
    const headers = headersFor(request.headers.origin)
    for (let i = 0; i + 1 < headers.length; i += 2) reply.header(headers[i] ?? '', headers[i + 1])
    if (request.method !== 'OPTIONS') return done()
    // An OPTIONS that is no preflight is answered as one.
    const wanted = request.headers['access-control-request-headers']
    const vary = [reply.getHeader('vary') ?? [], 'Access-Control-Request-Headers'].flat().join(', ')
    reply
      .code(204)
      .headers({
        vary,
        'access-control-allow-methods': METHODS,
        'access-control-max-age': MAX_AGE,
        ...(wanted === undefined ? {} : { 'access-control-allow-headers': wanted }),
      })
      .send()
  })
}
