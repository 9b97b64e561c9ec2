import { createServer as createHttpServer, type Server } from 'node:http'
import swagger from '@fastify/swagger'
import fastify, { type FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { OverloadError } from '../lib/errors.ts'
import type { BodyBudget } from './body/budget.ts'
import { clientGroup, trustOf } from './client.ts'
import { connectionBound, isSurplus, limitConnections, openFilesLimit } from './connection-limits.ts'
import { hasBody } from './body/content-encoding.ts'
import { allowOrigins } from './cors.ts'
import { answerErrors, httpErrorOf, send } from './errors.ts'
import { GracefulShutdown } from './graceful-shutdown.ts'
import { LogQuota } from './observability/log-quota.ts'
import { handleParserError, hasValidHost, MAX_URL_BYTES } from './malformed-requests.ts'
import type { Metrics } from './observability/metrics.ts'
import { finishDocument } from './openapi/finish.ts'
import { API_DESCRIPTION } from './openapi/document.ts'
import { parseQuery } from './parameters.ts'
import { drainBody } from './body/receive.ts'
import { nextRequestId, requestObserver } from './observability/request-log.ts'

/** The framework as the rest of the service knows it: nothing else outside `http` and `server` imports it. */
export type {
  FastifyInstance as HttpServer,
  FastifyReply as HttpReply,
  FastifyRequest as HttpRequest,
} from 'fastify'

/** Requests that a client may pipeline on one connection: each waiting response takes memory. */
const MAX_PIPELINED = 16
const HTTP_OPTIONS = {
  // From a request's first byte to the end of its head, and of its body.
  headersTimeout: 15_000,
  requestTimeout: 120_000,
  // Longer than the 60 s that load balancers commonly keep an idle connection, so that they close it first.
  keepAliveTimeout: 72_000,
  // The largest head of a request (URL and headers).
  maxHeaderSize: 32_768,
  connectionsCheckingInterval: 5_000,
  // HTTP/1.1 requests without Host are still rejected (RFC 9112, section 3.2), but with our JSON.
  requireHostHeader: false,
  // A request without a body is no stream: its events cost a tenth of a small response.
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
  /** Connections of one client address. */
  readonly clientConnections: number
  /** Requests of one client address that are logged a minute; 0 for all. */
  readonly clientLogLines: number
  readonly version: string
  /** What the rest of bodies is read by that no endpoint has asked for. */
  readonly bodies: BodyBudget
}

declare module 'fastify' {
  interface FastifyInstance {
    readonly shutdown: GracefulShutdown
    /** Fastify's own loggers are disabled. */
    readonly serviceLog: Logger
  }
}

/** An HTTP server with everything that all routes share, and no route yet. */
export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const { log, metrics, corsOrigins, trustedProxies } = options
  const isTrusted = trustOf(trustedProxies)
  const shutdown = new GracefulShutdown()
  const limits = {
    total: connectionBound(options.maxConnections, openFilesLimit()),
    perClient: options.clientConnections,
    isTrusted,
  }
  // Fastify gets no logger: its lines carry the URL, and with it the key, and it pays for its own request log at every request.
  const app: FastifyInstance = fastify<Server>({
    genReqId: nextRequestId,
    trustProxy: trustedProxies.length > 0 ? isTrusted : false,
    // Called once for each address that the host's name resolves to.
    serverFactory: (handle) => {
      const server = createHttpServer(HTTP_OPTIONS, (request, response) => {
        if (shutdown.track(request, response) > MAX_PIPELINED) request.socket.destroy()
        else handle(request, response)
      })
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
    frameworkErrors: (_error, _request, reply) => {
      send(reply, httpErrorOf(400))
    },
  })

  app.decorate('shutdown', shutdown)
  app.decorate('serviceLog', log)
  // Declared here so that all requests are objects of one shape.
  app.decorateRequest('identity', undefined)
  app.decorateRequest('bodyLease', undefined)

  // Endpoints receive bodies themselves: only they know how large one may be and who must be authenticated first.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  // Endpoints validate their parameters themselves, for the contract's messages.
  app.setValidatorCompiler(() => () => true)

  const observe = requestObserver(log, metrics, new LogQuota(log, options.clientLogLines))
  const handleCors = allowOrigins(app, corsOrigins)
  const answerUnknown = answerErrors(app)
  // One hook, since each costs as much as what these do.
  app.addHook('onRequest', (request, reply, done) => {
    observe(request, reply)
    const { raw } = request
    if (isSurplus(raw.socket)) send(reply.header('connection', 'close'), new OverloadError())
    else if ((raw.url?.length ?? 0) > MAX_URL_BYTES) send(reply, httpErrorOf(414))
    else if (!hasValidHost(raw)) send(reply, httpErrorOf(400))
    else if (handleCors(request, reply)) return
    // Before Fastify rejects the type of a body that nobody is going to read.
    else if (request.is404) answerUnknown(request, reply)
    else done()
  })
  // Node itself would read a body that nobody asked for as fast as it arrives.
  app.addHook('onSend', (request, _reply, _payload, done) => {
    const { raw } = request
    if (hasBody(raw.headers) && raw.readableFlowing === null)
      drainBody(raw, clientGroup(request.ip), options.bodies)
    done()
  })
  await app.register(swagger, {
    openapi: { ...API_DESCRIPTION, info: { ...API_DESCRIPTION.info, version: options.version } },
    transformObject: (made) =>
      finishDocument('openapiObject' in made ? made.openapiObject : made.swaggerObject),
  })
  return app
}
