import { createdKey } from '../http/auth/audit.ts'
import {
  ALL_SCOPES,
  MAX_ACCOUNT_CHARACTERS,
  MAX_LIFETIME_DAYS,
  MAX_RATE,
  type AccountRecord,
  type CreateKeyOutcome,
  type KeyRecord,
  type KeyLimits,
  type Rate,
  SCOPES,
  SERVICES,
  type Service,
  formatRate,
  parseLifetime,
  parseRate,
  parseScope,
} from '../http/auth/key-limits.ts'
import { simpleEndpoint, type EndpointShared } from '../http/endpoint.ts'
import { badParameter } from '../http/errors.ts'
import { problem } from '../http/openapi/json-schema.ts'
import { choice, oneOfTakes, text, type Parameter } from '../http/parameters.ts'
import type { HttpServer } from '../http/server.ts'
import type { Clock } from '../lib/clock.ts'
import { DISPLAY_NAME_TAKES } from '../lib/text.ts'
import { adminErrors, createAnswer, keysAnswer, revokeAnswer } from './schemas.ts'

/** The operations on accounts and keys, which the composition root passes in. */
export interface ApiKeys {
  readonly keys: () => Promise<readonly KeyRecord[]>
  readonly accounts: () => Promise<readonly AccountRecord[]>
  readonly createKey: (account: string, service: Service, limits: KeyLimits) => Promise<CreateKeyOutcome>
  readonly revoke: (id: string) => Promise<'revoked' | 'already-revoked' | 'unknown'>
}

const NAME_TAKES = `debe ser un texto de 1 a ${MAX_ACCOUNT_CHARACTERS} caracteres, ${DISPLAY_NAME_TAKES}`

/** Parsed to milliseconds. */
const lifetime: Parameter<number> = {
  required: false,
  description: `Lifetime of the key, from a minute to ${MAX_LIFETIME_DAYS} days; unlimited by default`,
  schema: { type: 'string', pattern: '^[1-9][0-9]*[mhd]$' },
  example: '90d',
  parse: (given) => {
    const value = parseLifetime(given)
    return value === undefined
      ? {
          takes: `debe ser un plazo de minutos, horas o días, como 30m, 12h o 90d, de ${MAX_LIFETIME_DAYS}d como máximo`,
        }
      : { value }
  },
}

const rate: Parameter<Rate> = {
  required: false,
  description: `Rate limit of the key, from 1 to ${MAX_RATE} requests per period; unlimited by default`,
  schema: { type: 'string', pattern: '^[1-9][0-9]*/(s|min|h|day)$' },
  example: '60/min',
  parse: (given) => {
    const value = parseRate(given)
    return value === undefined
      ? { takes: 'debe ser un máximo de solicitudes por s, min, h o day, como 5/s o 60/min' }
      : { value }
  },
}

export function keysRoutes(
  app: HttpServer,
  shared: EndpointShared,
  { keys: apiKeys, clock }: { readonly keys: ApiKeys; readonly clock: Clock },
): void {
  simpleEndpoint(app, shared, {
    route: 'GET /api/v1/admin/keys',
    scopes: [],
    parameters: {},
    operation: 'listKeys',
    summary: 'List the keys',
    description: 'Lists the keys of all services, including expired and revoked ones, by account and age.',
    answers: { 200: keysAnswer },
    async handle() {
      const data = (await apiKeys.keys()).map((key) => ({
        id: key.id,
        account: key.account,
        service: key.service,
        date: seconds(key.created_at),
        used: key.used_at === null ? null : seconds(key.used_at),
        revoked: key.revoked_at === null ? null : seconds(key.revoked_at),
        ...limitsAnswer(key),
      }))
      return { status: 200, count: data.length, data }
    },
  })

  simpleEndpoint(app, shared, {
    route: 'POST /api/v1/admin/create',
    scopes: [],
    parameters: {
      account: text('Name of the account, which is created if it does not exist', 400),
      service: choice('Service that the key gives access to', SERVICES),
      scope: choice('Scope of the key, `full` by default', ALL_SCOPES),
      expires: lifetime,
      rate,
    },
    operation: 'createKey',
    summary: 'Create a key',
    description: 'The key is returned only in this response.',
    answers: {
      200: createAnswer,
      409: problem(
        'The account belongs to another service',
        adminErrors.account_of_other_service('fotos', 'imagestore'),
      ),
    },
    async handle({ identity, values: { account = '', service, scope = 'full', expires, rate: maxRate } }) {
      if (service === undefined) throw badParameter('service', oneOfTakes(SERVICES))
      if (parseScope(scope, service) === undefined) {
        throw badParameter('scope', oneOfTakes(SCOPES[service]))
      }
      const limits = {
        scope,
        expiresAt: expires === undefined ? null : clock.now() + expires,
        rate: maxRate ?? null,
      }
      const outcome = await apiKeys.createKey(account, service, limits)
      switch (outcome.kind) {
        case 'created': {
          const { account: name, id, key } = outcome
          await shared.audit.record(identity, 'key.create', createdKey(name, service, id))
          return {
            status: 200,
            id,
            key,
            account: name,
            service,
            ...limitsAnswer(limits),
          }
        }
        case 'other-service':
          throw adminErrors.account_of_other_service(account.trim(), outcome.service)
        case 'bad-name':
          throw badParameter('account', NAME_TAKES)
      }
    },
  })

  simpleEndpoint(app, shared, {
    route: 'POST /api/v1/admin/revoke',
    scopes: [],
    parameters: { id: text('ID of the key, from the list of keys', 100) },
    operation: 'revokeKey',
    summary: 'Revoke a key',
    description: 'The key stops working immediately. Revoking it again has no effect.',
    answers: { 200: revokeAnswer, 404: problem('There is no such key', adminErrors.key_not_found()) },
    async handle({ identity, values: { id = '' } }) {
      const outcome = await apiKeys.revoke(id)
      if (outcome === 'unknown') throw adminErrors.key_not_found()
      if (outcome === 'revoked') await shared.audit.record(identity, 'key.revoke', id)
      return { status: 200, id }
    },
  })
}

const limitsAnswer = ({ scope, expiresAt, rate: maxRate }: KeyLimits) => ({
  scope,
  expires: expiresAt === null ? null : seconds(expiresAt),
  rate: maxRate === null ? null : formatRate(maxRate),
})

const seconds = (milliseconds: number) => Math.floor(milliseconds / 1_000)
