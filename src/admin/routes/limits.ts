import type { HttpServer } from '../../http/server.ts'
import { HttpError } from '../../lib/errors.ts'
import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { problem } from '../../http/openapi/json-schema.ts'
import { choice, text, type Parameter } from '../../http/parameters.ts'
import { limitsAnswer } from '../schemas.ts'
import type { AccountRecord } from '../../http/auth/key-limits.ts'
import { accountOfOther, type ApiKeys } from './keys.ts'

/** What the owner of the service allows an application. */
export interface AccountPolicy<Mode extends string = string> {
  /** null for no limit. */
  readonly max_images: number | null
  readonly max_bytes: number | null
  readonly delivery: Mode
}

/** The policies of image hosting, which the composition root passes in. */
export interface AccountPolicies<Mode extends string = string> {
  readonly modes: readonly Mode[]
  readonly all: () => Promise<ReadonlyMap<string, AccountPolicy<Mode>>>
  change(
    account: Pick<AccountRecord, 'id' | 'name'>,
    change: Partial<AccountPolicy<Mode>>,
  ): Promise<AccountPolicy<Mode> | undefined>
}

const noAccount = () => new HttpError(404, 'La cuenta no existe')
const NONE = 'none'
/** Larger numbers are not exact in JSON. */
const MAX_LIMIT = 999_999_999_999_999

/** `limits`, and the name it had before the first release. */
const PATHS = [
  { path: '/api/v1/admin/limits', deprecated: false },
  { path: '/api/v1/admin/settle', deprecated: true },
]

export function limitsRoutes(
  app: HttpServer,
  shared: EndpointShared,
  { keys, policies }: { keys: ApiKeys; policies: AccountPolicies },
): void {
  for (const { path, deprecated } of PATHS) {
    simpleEndpoint(app, shared, {
      service: 'admin',
      scopes: [],
      methods: ['POST'],
      path,
      parameters: {
        account: text('Name of an account of imagestore', 400),
        max_images: limit('Limit on its images'),
        max_bytes: limit('Limit on their total size in bytes'),
        delivery: choice('Delivery mode of its images', policies.modes),
      },
      document: {
        tag: 'admin',
        summary: deprecated
          ? 'Alias of /api/v1/admin/limits'
          : 'Set the limits and the delivery mode of an application',
        description:
          'Changes only the given parameters, all or none of them. Images that exceed a new limit are kept.',
        deprecated,
        answers: {
          200: limitsAnswer,
          404: problem('There is no such account', noAccount()),
          409: problem('The account belongs to another service', accountOfOther('grupo', 'domainwatch')),
        },
      },
      async handle({ values: { account = '', max_images, max_bytes, delivery } }) {
        const name = account.trim().normalize('NFC')
        const found = (await keys.accounts()).find((one) => one.name === name)
        if (found === undefined) throw noAccount()
        if (found.service !== 'imagestore') {
          throw accountOfOther(name, found.service)
        }
        const updated = await policies.change(found, {
          ...(max_images === undefined ? {} : { max_images: max_images.max }),
          ...(max_bytes === undefined ? {} : { max_bytes: max_bytes.max }),
          ...(delivery === undefined ? {} : { delivery }),
        })
        if (updated === undefined) throw noAccount()
        return { status: 200, account: name, ...updated }
      },
    })
  }
}

/** A number, or `none` to remove the limit. */
function limit(description: string): Parameter<{ readonly max: number | null }> {
  return {
    required: false,
    description: `${description}; ${NONE} for no limit`,
    schema: { type: 'string', pattern: `^(\\d{1,15}|${NONE})$` },
    parse: (given) => {
      if (given === NONE) return { value: { max: null } }
      return /^\d{1,15}$/.test(given)
        ? { value: { max: Number(given) } }
        : { takes: `debe ser un entero entre 0 y ${MAX_LIMIT}, o ${NONE}` }
    },
  }
}
