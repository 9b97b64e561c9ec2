import type { HttpServer } from '../../http/server.ts'
import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { answer, integer, nullable, string } from '../../http/openapi/json-schema.ts'
import { type LimitedScope, SCOPES, SERVICES, type Service, formatRate } from '../../http/auth/key-limits.ts'

const EXAMPLE = {
  domainwatch: { account: 'grupo', scope: 'read', rate: '60/min' },
  imagestore: { account: 'fotos', scope: 'upload', rate: '5/s' },
  admin: { account: 'dueña', scope: 'full', rate: null },
} as const

/** Returns the limits of the calling key. Open to every scope. */
export function keyRoutes(app: HttpServer, shared: EndpointShared): void {
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
