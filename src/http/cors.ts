import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** False where no page of another origin may read the answer, whatever the origins allowed. */
    hasCors?: boolean
  }
}

const METHODS = 'GET, HEAD, POST, DELETE'
const EXPOSED = ['access-control-expose-headers', 'Link, Retry-After, ETag'] as const
/** Seconds for which a browser need not ask again. */
const MAX_AGE = '86400'

/** What an answer says to a page. */
interface Cors {
  /** Names and values in turn. */
  readonly headers: readonly string[]
  /** The header of the request that has a say in it, which caches in between must be told of. */
  readonly vary: string | undefined
}

/** What an answer says to a page of this origin. */
export type CorsHeaders = (origin: string | undefined) => Cors

/** @param origins those that may call; `*` among them for all, none at all for none */
export function corsHeaders(origins: readonly string[]): CorsHeaders {
  const isOpen = origins.includes('*')
  if (origins.length === 0 || isOpen) {
    const headers = isOpen ? ['access-control-allow-origin', '*', ...EXPOSED] : []
    const cors = { headers, vary: undefined }
    return () => cors
  }
  const corsOf = (headers: readonly string[]): Cors => ({ headers: [...headers, ...EXPOSED], vary: 'Origin' })
  const others = corsOf([])
  const allowed = new Map(
    origins.map((origin) => [origin, corsOf(['access-control-allow-origin', origin])] as const),
  )
  return (origin) => allowed.get(origin ?? '') ?? others
}

/** Answers preflights, and says on every answer who may read it. */
export function allowOrigins(app: FastifyInstance, headersFor: CorsHeaders): void {
  const closed = new Set<string>()
  app.addHook('onRoute', ({ url, config }) => {
    if (config?.hasCors === false) closed.add(url)
  })
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.hasCors === false) return done()
    if (request.method === 'OPTIONS' && closed.has(request.raw.url?.split('?', 1)[0] ?? '')) return done()
    const { headers, vary: origin } = headersFor(request.headers.origin)
    if (origin !== undefined) reply.header('vary', origin)
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
