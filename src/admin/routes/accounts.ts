import type { FastifyInstance } from 'fastify'
import type { Clock } from '../../lib/clock.ts'
import type { Database } from '../../storage/database/database.ts'
import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { storageByAccount } from '../queries.ts'
import { accountsAnswer } from '../schemas.ts'
import type { KeyOffice, KeyRecord } from './keys.ts'
import type { TermsOffice } from './settle.ts'

const NO_TERMS = { max_images: null, max_bytes: null, delivery: null }

export function accountsRoute(
  app: FastifyInstance,
  shared: EndpointShared,
  {
    clock,
    database,
    keys: office,
    terms,
  }: { clock: Clock; database: Database; keys: KeyOffice; terms: TermsOffice },
): void {
  simpleEndpoint(app, shared, {
    service: 'admin',
    scopes: [],
    methods: ['GET'],
    path: '/api/v1/admin/accounts',
    parameters: {},
    document: {
      tag: 'admin',
      summary: 'List the accounts with what they hold',
      answers: { 200: accountsAnswer },
    },
    async handle() {
      const [accounts, keys, storage, settled] = await Promise.all([
        office.accounts(),
        office.keys(),
        database.all(storageByAccount()),
        terms.all(),
      ])
      const held = new Map(storage.map((row) => [Number(row.account_id), row]))
      const known = accounts.map(({ id, name, service, created_at }) => ({
        account: name,
        service,
        date: Math.floor(created_at / 1_000),
        images: Number(held.get(id)?.images ?? 0),
        bytes: Number(held.get(id)?.bytes ?? 0),
        ...(settled.get(name) ?? NO_TERMS),
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
          ...NO_TERMS,
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
