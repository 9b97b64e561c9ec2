import { createServer as createHttpServer, type Server } from 'node:http'
import swagger from '@fastify/swagger'
import fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { OverloadError } from '../lib/errors.ts'
import { connectionBound, isSurplus, limitConnections, openFilesLimit } from './connections.ts'
import { AnswersAtOnce } from './at-once.ts'
import type { BodyBudget } from './body-budget.ts'
import { clientAddress, clientGroup, trustOf } from './client-address.ts'
import { hasBody } from './content-encoding.ts'
import { allowOrigins, corsHeaders } from './cors.ts'
import { answerErrors, refusalOf, send } from './errors.ts'
import { hasValidHost } from './host-header.ts'
import { LogQuota } from './log-quota.ts'
import type { Metrics } from './metrics.ts'
import { parseQuery } from './parameters.ts'
import { readAgain } from './raw-addresses.ts'
import { answerRawError, MAX_URL_BYTES } from './raw-errors.ts'
import { finishDocument } from './openapi-finish.ts'
import { API_DESCRIPTION } from './openapi.ts'
import { announceKeepAlive, ConnectionLines } from './ready-head.ts'
import { drainBody } from './request-body.ts'
import { nextRequestId, observeAnswers, observeRequests } from './request-log.ts'
import { Stopping } from './stopping.ts'

/** The largest head of a request (address and headers). */
const MAX_HEAD_BYTES = 32_768
/** From a request's first byte to the end of its head, and of its body. */
const HEADERS_TIMEOUT_MS = 15_000
const REQUEST_TIMEOUT_MS = 120_000
/** Longer than the 60 s that balancers commonly keep an idle connection, so that they close it, not we. */
const KEEP_ALIVE_MS = 72_000
/** A connection on which nothing moves in the middle of something. */
const STANDSTILL_MS = 130_000
/** Requests that a client may send on one connection without waiting for their answers, each of which takes memory. */
const MAX_PIPELINED = 16
const HTTP_OPTIONS = {
  headersTimeout: HEADERS_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  // `Stopping` ends idle connections.
  keepAliveTimeout: 0,
  maxHeaderSize: MAX_HEAD_BYTES,
  connectionsCheckingInterval: 5_000,
  // Missing in HTTP/1.1 it is refused all the same (RFC 9112, section 3.2), but with our JSON.
  requireHostHeader: false,
  // A request without a body is no stream: its events cost a tenth of a small answer. Nobody hears of its end from it.
  optimizeEmptyRequests: true,
}

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
    readonly stopping: Stopping
  }
}

/** An HTTP server with the manners that all routes share, and no route yet. */
export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const { metrics } = options
  const log: FastifyBaseLogger = options.log
  const observe = observeAnswers(metrics, options.log, new LogQuota(options.log, options.clientLogLines))
  const trusted = trustOf(options.trustedProxies)
  const headersFor = corsHeaders(options.corsOrigins)
  const atOnce = new AnswersAtOnce(
    observe,
    headersFor,
    clientAddress(trusted),
    new ConnectionLines(KEEP_ALIVE_MS),
  )
  const stopping = new Stopping(KEEP_ALIVE_MS, STANDSTILL_MS)
  const limits = {
    total: connectionBound(options.maxConnections, openFilesLimit()),
    perClient: options.clientConnections,
    isTrusted: trusted,
  }
  const app: FastifyInstance = fastify<Server>({
    loggerInstance: log,
    // Fastify's own lines carry the address, and with it the key.
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (logger) => logger,
    genReqId: nextRequestId,
    trustProxy: options.trustedProxies.length > 0 ? trusted : false,
    // Called once for each address that the host's name stands for.
    serverFactory: (general) => {
      const server = createHttpServer(HTTP_OPTIONS, (request, response) => {
        const underWay = stopping.take(request, response)
        if (underWay > MAX_PIPELINED) {
          request.socket.destroy()
          return
        }
        // While it stops, and where there are too many, the framework tells each client to close its connection.
        const isCalm = !stopping.isStopping && !isSurplus(request.socket)
        const isAtOnce = isCalm && atOnce.answer(request, response)
        if (isAtOnce) return
        announceKeepAlive(response, KEEP_ALIVE_MS)
        general(request, response)
      })
      limitConnections(server, limits)
      stopping.watch(server)
      return server
    },
    forceCloseConnections: 'idle',
    // What arrives on an open connection while the server stops is still answered: Fastify's 503 is not our JSON.
    return503OnClosing: false,
    routerOptions: { querystringParser: parseQuery, maxParamLength: MAX_URL_BYTES },
    clientErrorHandler: (error, socket) => {
      const accept = () => app.server.emit('connection', socket)
      if (!readAgain(error, socket, accept)) answerRawError(error, socket)
    },
    frameworkErrors: (_error, _request, reply) => {
      send(reply, refusalOf(400))
    },
  })

  app.decorate('atOnce', atOnce)
  app.decorate('stopping', stopping)
  // Declared at once, so that all requests are objects of one shape.
  app.decorateRequest('identity', undefined)
  app.decorateRequest('bodyLease', undefined)

  // Bodies are received by the endpoints: only they know how large one may be and who must be known first.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  // The endpoints check their parameters themselves, to answer in the contract's words.
  app.setValidatorCompiler(() => () => true)

  observeRequests(app, observe)
  // Node itself would read a body that nobody asked for as fast as it comes.
  app.addHook('onSend', (request, _reply, _payload, done) => {
    const { raw } = request
    if (hasBody(raw.headers) && raw.readableFlowing === null)
      drainBody(raw, clientGroup(request.ip), options.bodies)
    done()
  })
  app.addHook('onRequest', (request, reply, done) => {
    if (isSurplus(request.raw.socket)) {
      send(reply.header('connection', 'close'), new OverloadError())
    } else if ((request.raw.url?.length ?? 0) > MAX_URL_BYTES) {
      send(reply, refusalOf(414))
    } else if (!hasValidHost(request.raw)) {
      send(reply, refusalOf(400))
    } else done()
  })
  answerErrors(app)
  if (options.corsOrigins.length > 0) allowOrigins(app, headersFor)
  await app.register(swagger, {
    openapi: { ...API_DESCRIPTION, info: { ...API_DESCRIPTION.info, version: options.version } },
    transformObject: (made) =>
      finishDocument('openapiObject' in made ? made.openapiObject : made.swaggerObject),
  })
  return app
}
