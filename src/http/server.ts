import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import swagger from '@fastify/swagger'
import compileSerializer from 'fast-json-stringify'
import fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyContextConfig,
  type onRequestHookHandler,
} from 'fastify'
import type { Logger } from 'pino'
import { HttpError, isErrorCode, OverloadError } from '../lib/errors.ts'
import type { JsonObject } from '../lib/json.ts'
import type { MinTransferRate } from './body/budget.ts'
import { hasBody } from './body/parse.ts'
import { drainBody } from './body/receive.ts'
import { networkMatcher, type Peer } from './client.ts'
import {
  limitConnections,
  maxConnectionsFor,
  openFilesLimit,
  UnsentResponses,
  type RequestTurns,
} from './connection-limits.ts'
import { addCorsHeaders, allowOrigins } from './cors.ts'
import { JSON_TYPE, PRIVATE_HEADERS } from './headers.ts'
import { toHttpError, httpErrors } from './errors.ts'
import { GracefulShutdown } from './graceful-shutdown.ts'
import { handleParserError, hasValidHost, MAX_URL_BYTES, originForm } from './malformed-requests.ts'
import { requestLog, type Metrics, LogQuota, requestObserver } from './observability.ts'
import { API_DESCRIPTION } from './openapi/document.ts'
import { finishDocument } from './openapi/finish-document.ts'
import { parseQuery, UNREADABLE_QUERY } from './parameters.ts'

/** Sends 404 for an unknown path, 405 for a known one with another method. */
export type AnswerUnknown = (request: FastifyRequest, reply: FastifyReply) => FastifyReply

/**
 * Makes every error response `{status, msg, code}`: from an `HttpError` itself, from framework errors by status, and from anything else a
 * generic 500 whose details are only logged.
 */
function answerErrors(app: FastifyInstance): AnswerUnknown {
  app.setErrorHandler((error, request, reply) => {
    // The handler may have set headers for caching before it failed.
    reply.removeHeader('cache-control').removeHeader('etag')
    send(reply, error instanceof HttpError ? error : translate(error, request))
  })

  const methodsByPath = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, method }) => {
    const methods = methodsByPath.get(url) ?? new Set()
    for (const name of [method].flat()) methods.add(name)
    methodsByPath.set(url, methods)
  })

  function answerUnknown(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const path = request.raw.url?.split('?', 1)[0] ?? ''
    const methods = methodsByPath.get(path) ?? patternMatch(methodsByPath, path)
    if (methods === undefined) return send(reply, httpErrors.path_not_found())
    const allow = [...methods].sort().join(', ')
    return send(reply, httpErrors.method_not_allowed(allow).with({ headers: { allow } }))
  }

  app.setNotFoundHandler(answerUnknown)
  return answerUnknown
}

/** Sends an error, also before a route was found. */
function send(reply: FastifyReply, error: HttpError): FastifyReply {
  return (
    reply
      .code(error.status)
      // By default caches may store a 404 or 410 (RFC 9111, section 4.2.2), and so hide what is created later.
      .headers({ ...PRIVATE_HEADERS, ...error.headers })
      .type(JSON_TYPE)
      .send(JSON.stringify(error.body()))
  )
}

/** Finds the route with a wildcard or a parameter that matches the path: `/i/*`, `/w/:token.atom`. */
function patternMatch(methodsByPath: Map<string, Set<string>>, path: string): Set<string> | undefined {
  for (const [pattern, methods] of methodsByPath) {
    const [before = '', part, after = ''] = pattern.split(/(\*$|:[a-z]+)/)
    if (part === undefined || path.length < before.length + after.length) continue
    const given = path.slice(before.length, path.length - after.length)
    const isMatch = part === '*' || (given !== '' && !given.includes('/'))
    if (path.startsWith(before) && path.endsWith(after) && isMatch) return methods
  }
  return undefined
}

function translate(error: unknown, request: FastifyRequest): HttpError {
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
  // The client left before a stream had sent anything, so nobody reads the answer.
  const hasLeft = isErrorCode(error, 'ERR_STREAM_PREMATURE_CLOSE')
  if (hasLeft || isOutOfFiles(error)) return new OverloadError()
  const httpError = toHttpError(status)
  if (httpError.status >= 500) requestLog(request).error({ err: error }, 'unexpected error')
  return httpError
}

/** Returns whether the process or the system has too many open files, which is temporary. */
function isOutOfFiles(error: unknown): boolean {
  return isErrorCode(error, 'EMFILE', 'ENFILE')
}

/** The framework as the rest of the service knows it: nothing else outside `http` and `server` imports it. */
export type {
  FastifyInstance as HttpServer,
  FastifyReply as HttpReply,
  FastifyRequest as HttpRequest,
} from 'fastify'

/** Requests that a client may pipeline on one connection: each waiting response takes memory. */
const MAX_PIPELINED = 16
const HTTP_OPTIONS = {
  // From a request's first byte to the end of its head. A body may take as long as it makes progress (`MinTransferRate`).
  headersTimeout: 15_000,
  requestTimeout: 0,
  // Longer than the 60 s that load balancers commonly keep an idle connection, so that they close it first.
  keepAliveTimeout: 72_000,
  // The largest head of a request (URL and headers).
  maxHeaderSize: 32_768,
  connectionsCheckingInterval: 5_000,
  // HTTP/1.1 requests without Host are still rejected (RFC 9112, section 3.2), but with our JSON.
  requireHostHeader: false,
  // A request without a body is not read as a stream: its events cost a tenth of a small response.
  optimizeEmptyRequests: true,
}
/** Closes a connection on which no byte moves in the middle of a request or a response. */
const IDLE_SOCKET_TIMEOUT_MS = 130_000

export interface ServerOptions {
  readonly log: Logger
  readonly metrics: Metrics
  readonly trustedProxies: readonly string[]
  readonly corsOrigins: readonly string[]
  readonly maxConnections: number
  /** Connections per client address. */
  readonly clientConnections: number
  /** Log lines about requests per client address and minute; 0 for no limit. */
  readonly clientLogLines: number
  readonly version: string
  /** Requests that the service sends, as in OpenAPI. */
  readonly webhooks: JsonObject
  /** Of bodies that no endpoint has read. */
  readonly minRate: MinTransferRate
  /** The turns of requests without a key. */
  readonly unauthenticated: RequestTurns<Peer>
  /** The fraction of the memory for unsent responses that this process may use, up to 1. */
  readonly memoryFraction: number
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The endpoint authenticates its requests, and lets those take turns whose key is not known. */
    checksKey?: boolean
  }
  interface FastifyInstance {
    readonly shutdown: GracefulShutdown
    /** Fastify's own loggers are disabled. */
    readonly serviceLog: Logger
    readonly logQuota: LogQuota
    readonly unsentResponses: UnsentResponses
  }
}

/** Creates an HTTP server with everything that its routes share, but without routes. */
export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const { log, metrics, corsOrigins, trustedProxies } = options
  const isTrusted = networkMatcher(trustedProxies)
  const reportForwarded = forwardedObserver(metrics, log, trustedProxies.length > 0 ? isTrusted : () => false)
  const shutdown = new GracefulShutdown()
  const limits = {
    total: maxConnectionsFor(options.maxConnections, openFilesLimit()),
    perClient: options.clientConnections,
    isTrusted,
  }
  // Fastify gets no logger: its lines contain the URL, and so the key, and its request log is slow.
  const app: FastifyInstance = fastify<Server>({
    trustProxy: trustedProxies.length > 0 ? isTrusted : false,
    // Called once for each address that the host's name resolves to.
    serverFactory: (handle) => {
      const onRequest = (request: IncomingMessage, response: ServerResponse) => {
        request.url = originForm(request.url)
        const unfinished = shutdown.track(request, response)
        const previous = unfinished.at(-2)
        if (unfinished.length > MAX_PIPELINED) request.socket.destroy()
        else if (previous === undefined) handle(request, response)
        // At most one per connection in each turn of the event loop, so that pipelining does not delay other clients.
        else
          previous.once('close', () =>
            setImmediate(() => {
              if (!request.socket.destroyed) handle(request, response)
            }),
          )
      }
      const server = createHttpServer(HTTP_OPTIONS, onRequest)
      // Unknown expectations may be ignored (RFC 9110, section 10.1.1). Node's 417 is not our JSON.
      server.on('checkExpectation', onRequest)
      server.timeout = IDLE_SOCKET_TIMEOUT_MS
      limitConnections(server, limits)
      shutdown.watch(server)
      return server
    },
    forceCloseConnections: 'idle',
    // Requests on open connections are still answered during shutdown: Fastify's 503 is not our JSON.
    return503OnClosing: false,
    routerOptions: { querystringParser: parseQuery, maxParamLength: MAX_URL_BYTES },
    clientErrorHandler: (error, socket) =>
      handleParserError(error, socket, app.server, shutdown.isBusy(socket)),
    // The URL is malformed. No hook runs.
    frameworkErrors: (_error, request, reply) => {
      observe(request, reply, undefined)
      if (handleCors(request, reply, undefined)) return
      beforeSend(request, reply)
      send(reply, httpErrors.bad_request())
    },
  })

  app.decorate('shutdown', shutdown)
  app.decorate('serviceLog', log)
  const logQuota = new LogQuota(log, options.clientLogLines)
  app.decorate('logQuota', logQuota)
  const unsentResponses = new UnsentResponses(options.memoryFraction)
  app.decorate('unsentResponses', unsentResponses)
  // Declared here so that all requests have one hidden class.
  app.decorateRequest('identity', undefined)
  app.decorateRequest('bodyMemory', undefined)

  // Endpoints receive bodies themselves: the size limit and the authentication before it depend on the endpoint.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  // Endpoints validate their parameters themselves, with messages in Spanish.
  app.setValidatorCompiler(() => () => true)
  // Compiling those of all answers up front was a quarter of the main thread's work to start the service.
  app.setSerializerCompiler(({ schema }) => {
    let serialize: ReturnType<typeof compileSerializer> | undefined
    return (data) => (serialize ??= compileSerializer(schema))(data)
  })

  const observe = requestObserver(
    log,
    (labels, seconds) => metrics.requests.observe(labels, seconds),
    logQuota,
    shutdown,
  )
  const handleCors = allowOrigins(app, corsOrigins)
  const answerUnknown = answerErrors(app)
  const check =
    (route: string | undefined, config: FastifyContextConfig = {}): onRequestHookHandler =>
    (request, reply, done) => {
      const { raw } = request
      observe(request, reply, route)
      reportForwarded(raw)
      shutdown.keepForPipelined(raw.socket, reply.raw)
      const turn = config.checksKey === true ? undefined : options.unauthenticated.take(request)
      if (turn === undefined) return begin(request, reply, config, done)
      void turn.then(() => {
        if (!raw.socket.destroyed) begin(request, reply, config, done)
      })
    }
  function begin(
    request: FastifyRequest,
    reply: FastifyReply,
    { hasCors }: FastifyContextConfig,
    done: () => void,
  ): void {
    const { raw } = request
    if ((raw.url?.length ?? 0) > MAX_URL_BYTES) send(reply, httpErrors.url_too_long())
    else if (request.query === UNREADABLE_QUERY || !hasValidHost(raw)) send(reply, httpErrors.bad_request())
    else if (!handleCors(request, reply, hasCors)) done()
  }
  // A hook of each route: of the server, it would have to read `request.routeOptions`, which makes an object each time.
  app.addHook('onRoute', (route) => {
    route.onRequest = [check(route.url, route.config), route.onRequest ?? []].flat()
  })
  const checkUnknown = check(undefined)
  // Before Fastify rejects the type of a body that is not going to be read.
  app.addHook('onRequest', function (request, reply, done) {
    if (request.is404) checkUnknown.call(this, request, reply, () => answerUnknown(request, reply))
    else done()
  })
  const beforeSend = (request: FastifyRequest, reply: FastifyReply) => {
    addCorsHeaders(request, reply)
    const { raw } = request
    // Node would read the rest of a body without any limit.
    if (hasBody(raw.headers) && raw.readableFlowing === null) drainBody(raw, options.minRate)
  }
  app.addHook('onSend', (request, reply, payload, done) => {
    beforeSend(request, reply)
    // Writes the response.
    done()
    unsentResponses.track(request, reply.raw, payload)
  })
  await app.register(swagger, {
    openapi: { ...API_DESCRIPTION, info: { ...API_DESCRIPTION.info, version: options.version } },
    transformObject: (made) =>
      finishDocument('openapiObject' in made ? made.openapiObject : made.swaggerObject, options.webhooks),
  })
  return app
}

/**
 * Returns a function that counts requests of trusted proxies without the address of the client, and those with one from other senders,
 * of which it logs the first.
 */
function forwardedObserver(
  metrics: Metrics,
  log: Logger,
  isTrusted: (address: string) => boolean,
): (request: IncomingMessage) => void {
  const ignored = metrics.counter(
    'catalejo_forwarded_ignored_total',
    'Requests whose X-Forwarded-For was ignored, because their sender is not in --trusted-proxies',
  )
  const missing = metrics.counter(
    'catalejo_forwarded_missing_total',
    'Requests without X-Forwarded-For from --trusted-proxies, which count as requests of the proxy',
  )
  let isLogged = false
  return ({ headers, socket }) => {
    const address = socket.remoteAddress ?? ''
    const hasForwarded = headers['x-forwarded-for'] !== undefined
    if (hasForwarded === isTrusted(address)) return
    if (!hasForwarded) return missing.inc()
    ignored.inc()
    if (isLogged) return
    isLogged = true
    log.warn({ address }, 'X-Forwarded-For is ignored: if this is your proxy, name it in --trusted-proxies')
  }
}
