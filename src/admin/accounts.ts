import { limitsSet } from '../http/auth/audit.ts'
import type { KeyRecord, AccountRecord, Service } from '../http/auth/key-limits.ts'
import { simpleEndpoint, type EndpointShared } from '../http/endpoint.ts'
import { problem } from '../http/openapi/json-schema.ts'
import { choice, text, type Parameter } from '../http/parameters.ts'
import type { HttpServer } from '../http/server.ts'
import type { Clock } from '../lib/clock.ts'
import type { Database } from '../storage/database/database.ts'
import { storageByAccount } from './queries.ts'
import type { ApiKeys } from './keys.ts'
import { accountsAnswer, limitsAnswer, releasedAnswer, adminErrors } from './schemas.ts'

/** What the owner of the service allows an application. */
interface AccountPolicy {
  /** null for no limit. */
  readonly max_images: number | null
  readonly max_bytes: number | null
  readonly delivery: string
}

/** The policies of image hosting, which the composition root passes in. */
interface AccountPolicies {
  readonly modes: readonly string[]
  readonly all: () => Promise<ReadonlyMap<string, AccountPolicy>>
  change(
    account: Pick<AccountRecord, 'id' | 'name'>,
    change: Partial<AccountPolicy>,
  ): Promise<AccountPolicy | undefined>
}

export interface AccountsOptions {
  readonly clock: Clock
  readonly database: Database
  readonly keys: ApiKeys
  readonly policies: AccountPolicies
  /** Ends all claims of an account of domainwatch, which the composition root passes in. Returns their number. */
  readonly releaseClaims: (accountId: number) => Promise<number>
}

const NO_POLICY = { max_images: null, max_bytes: null, delivery: null }

export function accountRoutes(
  app: HttpServer,
  shared: EndpointShared,
  { clock, database, keys: apiKeys, policies, releaseClaims }: AccountsOptions,
): void {
  simpleEndpoint(app, shared, {
    route: 'GET /api/v1/admin/accounts',
    scopes: [],
    parameters: {},
    operation: 'listAccounts',
    summary: 'List the accounts and their usage',
    answers: { 200: accountsAnswer },
    async handle() {
      const [accounts, keys, storage, policyByName] = await Promise.all([
        apiKeys.accounts(),
        apiKeys.keys(),
        database.all(storageByAccount()),
        policies.all(),
      ])
      const storageById = new Map(storage.map((row) => [Number(row.account_id), row]))
      const known = accounts.map(({ id, name, service, created_at }) => ({
        account: name,
        service,
        date: Math.floor(created_at / 1_000),
        images: Number(storageById.get(id)?.images ?? 0),
        bytes: Number(storageById.get(id)?.bytes ?? 0),
        ...(policyByName.get(name) ?? NO_POLICY),
      }))
      const administrators = [
        ...new Set(keys.filter(({ service }) => service === 'admin').map(({ account }) => account)),
      ]
      const data = [
        ...known,
        ...administrators.map((account) => ({
          account,
          service: 'admin' as const,
          date: null,
          images: 0,
          bytes: 0,
          ...NO_POLICY,
        })),
      ].map((one) => ({
        ...one,
        ...getUses(
          keys.filter(({ account }) => account === one.account),
          clock.now(),
        ),
      }))
      return { status: 200, count: data.length, data }
    },
  })

  for (const { route, deprecated } of ROUTES) {
    simpleEndpoint(app, shared, {
      route,
      scopes: [],
      parameters: {
        account: text('Name of an account of imagestore', 400),
        max_images: limit('Quota of images'),
        max_bytes: limit('Quota of bytes of all images'),
        delivery: choice('Delivery mode of the images', policies.modes),
      },
      operation: deprecated ? 'settleAccount' : 'setLimits',
      summary: deprecated
        ? 'Set the limits of an application, by the former name of this endpoint'
        : 'Set the limits and the delivery mode of an application',
      description:
        'Changes only the given parameters, all or none of them. Images that exceed a new limit are kept.',
      deprecated,
      answers: {
        200: limitsAnswer,
        ...otherAccount('grupo', 'domainwatch'),
      },
      async handle({ identity, values: { account = '', max_images, max_bytes, delivery } }) {
        const found = await getAccount(apiKeys, 'imagestore', account)
        const updated = await policies.change(found, {
          ...(max_images === undefined ? {} : { max_images: max_images.max }),
          ...(max_bytes === undefined ? {} : { max_bytes: max_bytes.max }),
          ...(delivery === undefined ? {} : { delivery }),
        })
        if (updated === undefined) throw adminErrors.account_not_found()
        await shared.audit.record(identity, 'limits.set', limitsSet(found.name, updated))
        return { status: 200, account: found.name, ...updated }
      },
    })
  }

  simpleEndpoint(app, shared, {
    route: 'POST /api/v1/admin/release',
    scopes: [],
    parameters: { account: { ...text('Name of an account of domainwatch', 400), required: true } },
    operation: 'releaseClaims',
    summary: 'Release all records that an account has claimed',
    description: 'Lets other accounts claim the records.',
    answers: {
      200: releasedAnswer,
      ...otherAccount('fotos', 'imagestore'),
    },
    async handle({ identity, values: { account = '' } }) {
      const { id, name } = await getAccount(apiKeys, 'domainwatch', account)
      const count = await releaseClaims(id)
      await shared.audit.record(identity, 'claims.release', name)
      return { status: 200, account: name, count }
    },
  })
}

function getUses(keys: readonly KeyRecord[], now: number) {
  const latest = Math.max(...keys.map(({ used_at }) => used_at ?? -Infinity))
  return {
    keys: keys.filter(
      ({ expiresAt, revoked_at }) => revoked_at === null && (expiresAt === null || expiresAt > now),
    ).length,
    used: Number.isFinite(latest) ? Math.floor(latest / 1_000) : null,
  }
}

const NONE = 'none'
/** Larger numbers are not exact in JSON. */
const MAX_LIMIT = 999_999_999_999_999

/** Responses for an account that does not exist, and for one of another service. */
const otherAccount = (name: string, service: Service) => ({
  404: problem('There is no such account', adminErrors.account_not_found()),
  409: problem('The account belongs to another service', adminErrors.account_of_other_service(name, service)),
})

/** `limits`, and the name it had before the first release. */
const ROUTES = [
  { route: 'POST /api/v1/admin/limits', deprecated: false },
  { route: 'POST /api/v1/admin/settle', deprecated: true },
] as const

/** Finds an account by its name, in any form of its characters. @throws HttpError 404, or 409 if it is of another service */
async function getAccount(keys: ApiKeys, service: Service, account: string): Promise<AccountRecord> {
  const name = account.trim().normalize('NFC')
  const found = (await keys.accounts()).find((one) => one.name === name)
  if (found === undefined) throw adminErrors.account_not_found()
  if (found.service !== service) throw adminErrors.account_of_other_service(name, found.service)
  return found
}

/** A number, or `none` to remove the limit. */
function limit(description: string): Parameter<{ readonly max: number | null }> {
  return {
    required: false,
    description: `${description}; \`${NONE}\` if unlimited`,
    schema: { type: ['integer', 'string'], pattern: `^(\\d{1,15}|${NONE})$` },
    parse: (given) => {
      if (given === NONE) return { value: { max: null } }
      return /^\d{1,15}$/.test(given)
        ? { value: { max: Number(given) } }
        : { takes: `debe ser un entero entre 0 y ${MAX_LIMIT}, o ${NONE}` }
    },
  }
}
