import type { FastifyInstance } from 'fastify'
import { HttpError } from '../../lib/errors.ts'
import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { problem } from '../../http/json-schema.ts'
import { choice, text, type Parameter } from '../../http/parameters.ts'
import { settleAnswer } from '../schemas.ts'
import type { AccountRecord, KeyOffice } from './keys.ts'

export interface Terms<Mode extends string = string> {
  /** null for no bound. */
  readonly max_images: number | null
  readonly max_bytes: number | null
  readonly delivery: Mode
}

/** What image hosting does for this part of the house. */
export interface TermsOffice<Mode extends string = string> {
  readonly modes: readonly Mode[]
  readonly all: () => Promise<ReadonlyMap<string, Terms<Mode>>>
  change(
    account: Pick<AccountRecord, 'id' | 'name'>,
    change: Partial<Terms<Mode>>,
  ): Promise<Terms<Mode> | undefined>
}

const NO_ACCOUNT = 'La cuenta no existe'
const NONE = 'none'
/** Larger ones are no exact numbers in JSON. */
const MAX = 999_999_999_999_999

export function settleRoute(
  app: FastifyInstance,
  shared: EndpointShared,
  { keys, terms }: { keys: KeyOffice; terms: TermsOffice },
): void {
  simpleEndpoint(app, shared, {
    service: 'admin',
    scopes: [],
    methods: ['POST'],
    path: '/api/v1/admin/settle',
    parameters: {
      account: text('Name of an account of imagestore', 400),
      max_images: bound('Most images that it may hold'),
      max_bytes: bound('Most bytes of them'),
      delivery: choice('How its images may be asked for', terms.modes),
    },
    document: {
      tag: 'admin',
      summary: 'Settle what an application may hold, and how its images may be asked for',
      description: 'What is left out stays; all of it is settled or nothing. What is held already stays.',
      answers: {
        200: settleAnswer,
        404: problem('There is no such account', 404, NO_ACCOUNT),
        409: problem('The account is of another service', 409, 'La cuenta grupo es del servicio domainwatch'),
      },
    },
    async handle({ values: { account = '', max_images, max_bytes, delivery } }) {
      const name = account.trim().normalize('NFC')
      const found = (await keys.accounts()).find((one) => one.name === name)
      if (found === undefined) throw new HttpError(404, NO_ACCOUNT)
      if (found.service !== 'imagestore') {
        throw new HttpError(409, `La cuenta ${name} es del servicio ${found.service}`)
      }
      const settled = await terms.change(found, {
        ...(max_images === undefined ? {} : { max_images: max_images.most }),
        ...(max_bytes === undefined ? {} : { max_bytes: max_bytes.most }),
        ...(delivery === undefined ? {} : { delivery }),
      })
      if (settled === undefined) throw new HttpError(404, NO_ACCOUNT)
      return { status: 200, account: name, ...settled }
    },
  })
}

/** A number, or the word that lifts the bound. */
function bound(description: string): Parameter<{ readonly most: number | null }> {
  return {
    required: false,
    description: `${description}; ${NONE} for no bound`,
    schema: { type: 'string', pattern: `^(\\d{1,15}|${NONE})$` },
    parse: (given) => {
      if (given === NONE) return { value: { most: null } }
      return /^\d{1,15}$/.test(given)
        ? { value: { most: Number(given) } }
        : { takes: `debe ser un entero entre 0 y ${MAX}, o ${NONE}` }
    },
  }
}
