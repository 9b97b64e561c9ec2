import type { FastifyInstance } from 'fastify'
import { Refusal } from '../../core/errors.ts'
import { DISPLAY_NAME_TAKES } from '../../core/free-text.ts'
import { SERVICES, type Service } from '../../http/authentication.ts'
import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { problem } from '../../http/json-schema.ts'
import { choice, text } from '../../http/parameters.ts'
import { createAnswer, keysAnswer, revokeAnswer } from '../schemas.ts'

export interface KeyRecord {
  readonly id: string
  readonly account: string
  readonly service: Service
  /** Milliseconds since 1970. */
  readonly created_at: number
  readonly revoked_at: number | null
  readonly used_at: number | null
}

export interface AccountRecord {
  readonly id: number
  readonly name: string
  readonly service: Service
  readonly created_at: number
}

export type CreateOutcome =
  | { readonly kind: 'created'; readonly key: string; readonly id: string }
  | { readonly kind: 'other-service'; readonly service: Service }
  | { readonly kind: 'bad-name'; readonly takes: string }

/** What the accounts' part of the house does for this one. */
export interface KeyOffice {
  readonly keys: () => Promise<readonly KeyRecord[]>
  readonly accounts: () => Promise<readonly AccountRecord[]>
  readonly create: (account: string, service: Service) => Promise<CreateOutcome>
  readonly revoke: (id: string) => Promise<'revoked' | 'already-revoked' | 'unknown'>
}

const NO_KEY = 'La clave no existe'
const NAME_TAKES = `debe ser un texto de 1 a 100 caracteres, ${DISPLAY_NAME_TAKES}`
const tag = 'admin'

export function keysRoutes(app: FastifyInstance, shared: EndpointShared, office: KeyOffice): void {
  simpleEndpoint(app, shared, {
    service: 'admin',
    methods: ['GET'],
    path: '/api/v1/admin/keys',
    parameters: {},
    document: {
      tag,
      summary: 'List the keys',
      description: 'Of all services, revoked ones included, by account and age.',
      answers: { 200: keysAnswer },
    },
    async handle() {
      const data = (await office.keys()).map(({ id, account, service, created_at, used_at, revoked_at }) => ({
        id,
        account,
        service,
        date: seconds(created_at),
        used: used_at === null ? null : seconds(used_at),
        revoked: revoked_at === null ? null : seconds(revoked_at),
      }))
      return { status: 200, count: data.length, data }
    },
  })

  simpleEndpoint(app, shared, {
    service: 'admin',
    methods: ['POST'],
    path: '/api/v1/admin/create',
    parameters: {
      account: text('Name of the account, which is made where there is none', 400),
      service: choice('What the key opens', SERVICES),
    },
    document: {
      tag,
      summary: 'Make a key',
      description: 'It is in this answer and nowhere else.',
      answers: {
        200: createAnswer,
        409: problem('The account is of another service', 409, 'La cuenta fotos es del servicio imagestore'),
      },
    },
    async handle({ values: { account = '', service }, reply }) {
      if (service === undefined)
        throw new Refusal(400, `El parámetro service debe ser ${SERVICES.join(' o ')}`)
      const outcome = await office.create(account, service)
      switch (outcome.kind) {
        case 'created':
          reply.header('cache-control', 'no-store')
          return {
            status: 200,
            id: outcome.id,
            key: outcome.key,
            account: account.trim().normalize('NFC'),
            service,
          }
        case 'other-service':
          throw new Refusal(409, `La cuenta ${account.trim()} es del servicio ${outcome.service}`)
        case 'bad-name':
          throw new Refusal(400, `El parámetro account ${NAME_TAKES}`)
      }
    },
  })

  simpleEndpoint(app, shared, {
    service: 'admin',
    methods: ['POST'],
    path: '/api/v1/admin/revoke',
    parameters: { id: text('Id of the key, from the list of keys', 100) },
    document: {
      tag,
      summary: 'Revoke a key',
      description: 'It opens nothing from then on. Revoking it again changes nothing.',
      answers: { 200: revokeAnswer, 404: problem('There is no such key', 404, NO_KEY) },
    },
    async handle({ values: { id = '' } }) {
      if ((await office.revoke(id)) === 'unknown') throw new Refusal(404, NO_KEY)
      return { status: 200, id }
    },
  })
}

const seconds = (milliseconds: number) => Math.floor(milliseconds / 1_000)
