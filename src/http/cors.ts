import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Response headers that tell which pages may read a response. */
export interface CorsHeaders {
  /** Names and values in turn. */
  readonly pairs: readonly string[]
  /** Whether the response depends on the origin, which `Vary` has to say. */
  readonly varies: boolean
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** `never`: no page of another origin may read the response, whatever origins are allowed; `always`: all pages may. */
    hasCors?: 'never' | 'always'
  }
  interface FastifyRequest {
    /** Undefined if no page of another origin may read the response. */
    cors: CorsHeaders | undefined
  }
}

const METHODS = 'GET, HEAD, POST, DELETE'
const EXPOSED = 'Link, Retry-After, ETag'
/** For routes that pages of all origins call, some of them by the protocol tus. */
const OPEN_METHODS = `${METHODS}, PATCH`
const OPEN_EXPOSED = `${EXPOSED}, Location, Upload-Offset, Upload-Length, Upload-Expires, Tus-Resumable, Tus-Version, Tus-Extension, Tus-Max-Size`
const OPEN: CorsHeaders = {
  pairs: ['access-control-allow-origin', '*', 'access-control-expose-headers', OPEN_EXPOSED],
  varies: false,
}
export const TUS_VERSION = '1.0.0'
/** What a client of the protocol tus learns of the server from OPTIONS. */
const TUS = { 'tus-version': TUS_VERSION, 'tus-extension': 'creation,expiration,termination' }
/** How long a browser may cache a preflight response. */
const MAX_AGE_SECONDS = '86400'

/**
 * Sets `request.cors`. Returns true if the request was a preflight request and has been answered.
 * @param hasCors of the route
 */
export type HandleCors = (
  request: FastifyRequest,
  reply: FastifyReply,
  hasCors: FastifyContextConfig['hasCors'],
) => boolean

/** Answers preflight requests, and chooses the CORS headers of every response. `*` allows all origins. */
export function allowOrigins(app: FastifyInstance, origins: readonly string[]): HandleCors {
  // Declared here so that all requests have one hidden class.
  app.decorateRequest('cors', undefined)
  const isOpen = origins.includes('*')
  const made = (allowed: readonly string[]): CorsHeaders => ({
    pairs: [...allowed, 'access-control-expose-headers', EXPOSED],
    varies: !isOpen,
  })
  const byOrigin = new Map(origins.map((origin) => [origin, made(['access-control-allow-origin', origin])]))
  const others = byOrigin.get('*') ?? made([])
  const closed = new Set<string>()
  const open: string[] = []
  app.addHook('onRoute', ({ url, config }) => {
    if (config?.hasCors === 'never') closed.add(url)
    if (config?.hasCors === 'always') open.push(url.split(':', 1)[0] ?? url)
  })
  const toSetting = (path: string) => {
    if (closed.has(path)) return 'never'
    return open.some((before) => path.startsWith(before)) ? 'always' : undefined
  }
  return (request, reply, ofRoute) => {
    const isPreflight = request.method === 'OPTIONS'
    const setting = isPreflight ? toSetting(toPath(request.raw.url)) : ofRoute
    if (setting === 'never' || (setting === undefined && origins.length === 0)) return false
    const { origin } = request.headers
    if (setting === 'always') request.cors = OPEN
    else request.cors = isOpen || origin === undefined ? others : (byOrigin.get(origin) ?? others)
    if (!isPreflight) return false
    // Other OPTIONS requests get the same response.
    const wanted = request.headers['access-control-request-headers']
    if (wanted !== undefined) reply.header('access-control-allow-headers', wanted)
    reply
      .code(204)
      .headers({
        vary: 'Access-Control-Request-Headers',
        'access-control-allow-methods': setting === 'always' ? OPEN_METHODS : METHODS,
        'access-control-max-age': MAX_AGE_SECONDS,
        ...(setting === 'always' && TUS),
      })
      .send()
    return true
  }
}

/** Adds the CORS headers to a response that Fastify sends. */
export function addCorsHeaders({ cors }: FastifyRequest, reply: FastifyReply): void {
  if (cors === undefined) return
  const { pairs, varies } = cors
  for (let i = 0; i < pairs.length; i += 2) reply.header(pairs[i] ?? '', pairs[i + 1])
  if (varies) reply.header('vary', withOrigin(reply.getHeader('vary')?.toString()))
}

/** Returns the headers of a response, names in lower case and values in turn, together with its CORS headers. */
export function withCorsHeaders(cors: CorsHeaders | undefined, headers: readonly string[]): string[] {
  if (cors === undefined) return [...headers]
  // Half the time of `concat`.
  if (!cors.varies) return [...cors.pairs, ...headers]
  const at = headers.findIndex((name, i) => i % 2 === 0 && name === 'vary') + 1
  if (at === 0) return cors.pairs.concat('vary', withOrigin(undefined), headers)
  return cors.pairs.concat(headers.with(at, withOrigin(headers[at])))
}

/** All in one header: some caches (nginx before 1.23) read only one of several `Vary`. */
const withOrigin = (vary: string | undefined): string => (vary === undefined ? 'Origin' : `Origin, ${vary}`)

function toPath(url = ''): string {
  const end = url.indexOf('?')
  return end < 0 ? url : url.slice(0, end)
}
