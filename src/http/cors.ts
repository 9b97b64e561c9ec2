import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** False if no page of another origin may read the response, whatever origins are allowed. */
    hasCors?: boolean
  }
}

const METHODS = 'GET, HEAD, POST, DELETE'
const EXPOSED = 'Link, Retry-After, ETag'
/** How long a browser may cache a preflight response. */
const MAX_AGE_SECONDS = '86400'

/** Sets CORS headers. Returns true if the request was a preflight request and has been answered. */
export type HandleCors = (request: FastifyRequest, reply: FastifyReply) => boolean

/** Answers preflight requests, and says on every response which pages may read it. `*` allows all origins. */
export function allowOrigins(app: FastifyInstance, origins: readonly string[]): HandleCors {
  if (origins.length === 0) return () => false
  const allowed = new Set(origins)
  const isOpen = allowed.has('*')
  const closed = new Set<string>()
  app.addHook('onRoute', ({ url, config }) => {
    if (config?.hasCors === false) closed.add(url)
  })
  return (request, reply) => {
    const isPreflight = request.method === 'OPTIONS'
    if (request.routeOptions.config.hasCors === false) return false
    if (isPreflight && closed.has(pathOf(request.raw.url))) return false
    const { origin } = request.headers
    if (isOpen) reply.header('access-control-allow-origin', '*')
    else {
      reply.header('vary', 'Origin')
      if (origin !== undefined && allowed.has(origin)) reply.header('access-control-allow-origin', origin)
    }
    reply.header('access-control-expose-headers', EXPOSED)
    if (!isPreflight) return false
    // Other OPTIONS requests get the same response.
    const wanted = request.headers['access-control-request-headers']
    if (wanted !== undefined) reply.header('access-control-allow-headers', wanted)
    reply
      .code(204)
      .headers({
        vary: `${isOpen ? '' : 'Origin, '}Access-Control-Request-Headers`,
        'access-control-allow-methods': METHODS,
        'access-control-max-age': MAX_AGE_SECONDS,
      })
      .send()
    return true
  }
}

function pathOf(url = ''): string {
  const end = url.indexOf('?')
  return end < 0 ? url : url.slice(0, end)
}
