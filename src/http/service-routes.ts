import type { FastifyInstance } from 'fastify'
import { withTimeout } from '../lib/concurrency.ts'
import { asError } from '../lib/errors.ts'
import { type LimitedScope, SCOPES, SERVICES, type Service, formatRate } from './auth/key-limits.ts'
import { simpleEndpoint, type EndpointShared } from './endpoint.ts'
import { httpErrors } from './errors.ts'
import { JSON_TYPE, PRIVATE_HEADERS } from './headers.ts'
import { type Metrics, requestLog } from './observability.ts'
import { answer, problem, integer, nullable, string } from './openapi/json-schema.ts'

const READY_TIMEOUT_MS = 2_000
const notReady = () => httpErrors.not_ready().with({ headers: { 'retry-after': '1' } })

export interface ServiceOptions {
  /** The path of the service: empty, or with a leading slash and no trailing one. */
  readonly prefix: string
  /** Undefined if they are served on a separate address. */
  readonly metrics: Metrics | undefined
  /** Each rejects if a required part of the service does not respond. */
  readonly checks: readonly (() => Promise<void>)[]
  /** Returns the public URL, which is known once the server listens. */
  readonly baseUrl: () => string
}

const tags = ['service']

/** Where the parts of the service are, under its public URL. */
export const getHome = (baseUrl: string) => ({
  console: `${baseUrl}/console/`,
  docs: `${baseUrl}/docs`,
  openapi: `${baseUrl}/openapi.json`,
})

const EXAMPLE = {
  domainwatch: { account: 'grupo', scope: 'read', rate: '60/min' },
  imagestore: { account: 'fotos', scope: 'upload', rate: '5/s' },
  admin: { account: 'dueña', scope: 'full', rate: null },
} as const

/** Registers the addresses of the service itself, health checks, metrics, the API description, and the limits of the calling key. */
export function serviceRoutes(
  app: FastifyInstance,
  shared: EndpointShared,
  { prefix, metrics, checks, baseUrl }: ServiceOptions,
): void {
  // Browsers are sent to the console, and programs get the addresses as JSON.
  const url = { type: 'string', format: 'uri' }
  app.get(
    '/',
    {
      schema: {
        tags: ['service'],
        operationId: 'getAddresses',
        summary: 'Get the addresses of the console, of the API reference and of this document',
        description: 'Redirects browsers (`Accept: text/html`) to the console.',
        response: {
          200: answer({ console: url, docs: url, openapi: url }, 'Addresses of the service', {
            ...getHome('https://example.com'),
          }),
          302: { description: 'Redirect to the console, for browsers', type: 'null' },
        },
      },
    },
    async (request, reply) => {
      void reply.header('vary', 'Accept')
      if (/\btext\/html\b/i.test(request.headers.accept ?? ''))
        return reply.redirect(`${prefix}/console/`, 302)
      return { status: 200, ...getHome(baseUrl()) }
    },
  )

  app.get(
    '/healthz',
    {
      schema: {
        tags,
        operationId: 'getHealth',
        summary: 'Check that the process is up',
        response: { 200: answer({}, 'The process is up', {}) },
      },
    },
    async () => ({ status: 200 }),
  )

  app.get(
    '/readyz',
    {
      schema: {
        tags,
        operationId: 'getReadiness',
        summary: 'Check that the database and the image store respond',
        response: {
          200: answer({}, 'Both respond', {}),
          503: problem('One of them does not respond', notReady()),
        },
      },
    },
    async (request) => {
      if (app.shutdown.isStopping) throw notReady()
      try {
        const answered = await withTimeout(Promise.all(checks.map((check) => check())), READY_TIMEOUT_MS)
        if (!answered) throw new Error(`no answer within ${READY_TIMEOUT_MS} ms`)
        return { status: 200 }
      } catch (error) {
        requestLog(request).info({ reason: asError(error).message }, 'not ready')
        throw notReady()
      }
    },
  )

  if (metrics !== undefined)
    app.get(
      '/metrics',
      {
        // Not for scripts of other origins.
        config: { hasCors: 'never' },
        schema: {
          tags,
          operationId: 'getMetrics',
          summary: 'Get metrics for Prometheus',
          description: 'Is served at another address if `--metrics-address` is set.',
          response: {
            200: {
              description: 'Prometheus text format',
              content: { 'text/plain': { schema: { type: 'string' } } },
            },
          },
        },
      },
      async (_request, reply) =>
        reply
          .headers(PRIVATE_HEADERS)
          .type(metrics.registry.contentType)
          .send(await metrics.text()),
    )

  // Made once: it takes milliseconds, and anybody may ask for it.
  let document: Buffer | undefined
  app.get(
    '/openapi.json',
    {
      schema: {
        tags,
        operationId: 'getOpenApi',
        summary: 'Get this document',
        response: {
          200: {
            description: 'OpenAPI 3.1',
            content: { 'application/json': { schema: { type: 'object' } } },
          },
        },
      },
    },
    async (_request, reply) => {
      // Its paths include that of the public URL.
      const servers = [{ url: new URL(baseUrl()).origin }]
      document ??= Buffer.from(JSON.stringify({ ...app.swagger(), servers }))
      return reply.type(JSON_TYPE).send(document)
    },
  )

  // Open to every scope.
  for (const service of SERVICES) {
    simpleEndpoint(app, shared, {
      route: `GET /api/v1/${service}/key`,
      scopes: SCOPES[service].filter((scope): scope is LimitedScope & typeof scope => scope !== 'full'),
      parameters: {},
      operation: { domainwatch: 'getDomainKey', imagestore: 'getImageKey', admin: 'getAdminKey' }[service],
      summary: 'Show the scope, expiry and rate limit of the key',
      answers: { 200: keyAnswer(service) },
      async handle({ identity: { account, scope, expiresAt, rate } }) {
        return {
          status: 200,
          account,
          service,
          scope,
          expires: expiresAt === null ? null : Math.floor(expiresAt / 1_000),
          rate: rate === null ? null : formatRate(rate),
        }
      },
    })
  }
}

function keyAnswer(service: Service) {
  return answer(
    {
      account: string('The account that the key belongs to'),
      service: string({ enum: [service] }),
      scope: string({ enum: SCOPES[service], description: 'Scope of the key' }),
      expires: nullable(integer('Expiry time, in seconds since 1970-01-01 UTC; null for never')),
      rate: nullable(string('Rate limit; null for none')),
    },
    'The limits of the key',
    { service, expires: null, ...EXAMPLE[service] },
  )
}
