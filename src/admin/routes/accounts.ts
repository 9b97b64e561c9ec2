import type { HttpServer } from '../../http/server.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Database } from '../../storage/database/database.ts'
import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { storageByAccount } from '../queries.ts'
import { accountsAnswer } from '../schemas.ts'
import type { KeyRecord } from '../../http/auth/key-limits.ts'
import type { ApiKeys } from './keys.ts'
import type { AccountPolicies } from './limits.ts'

const NO_POLICY = { max_images: null, max_bytes: null, delivery: null }

export function accountsRoute(
  app: HttpServer,
  shared: EndpointShared,
  {
    clock,
    database,
    keys: apiKeys,
    policies,
  }: { clock: Clock; database: Database; keys: ApiKeys; policies: AccountPolicies },
): void {
  simpleEndpoint(app, shared, {
    service: 'admin',
    scopes: [],
    methods: ['GET'],
    path: '/api/v1/admin/accounts',
    parameters: {},
    document: {
      tag: 'admin',
      summary: 'List the accounts and their usage',
      answers: { 200: accountsAnswer },
    },
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
        ...usesOf(
          keys.filter(({ account }) => account === one.account),
          clock.now(),
        ),
      }))
      return { status: 200, count: data.length, data }
    },
  })
}

function usesOf(keys: readonly KeyRecord[], now: number) {
  const latest = Math.max(...keys.map(({ used_at }) => used_at ?? -Infinity))
  return {
    keys: keys.filter(
      ({ expiresAt, revoked_at }) => revoked_at === null && (expiresAt === null || expiresAt > now),
    ).length,
    used: Number.isFinite(latest) ? Math.floor(latest / 1_000) : null,
  }
}
