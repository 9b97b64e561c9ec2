import assert from 'node:assert/strict'
import { call, type Fields } from './http.ts'
import type { TestService } from './service.ts'

export interface Group {
  readonly kind: string
  readonly key: string
  readonly from: string
  readonly to: string
  readonly count: number
  readonly names: readonly string[]
}

/** Requests the groups of names that were registered together. */
export async function campaigns(service: TestService, query: Fields = {}) {
  const given = { query: { api: service.domainKey, ...query } }
  const { status, body, text } = await call(service, '/api/v1/domainwatch/campaigns', given)
  assert.equal(status, 200, text)
  // The tests assert its values.
  return body as { from: string; to: string; count: number; data: Group[] }
}

/** Stores that names were seen with name servers. */
export const storeSeen = (service: TestService, seen: readonly (readonly [server: string, name: string])[]) =>
  service.sql(
    'INSERT INTO observed_servers (kind, server, name, last_at) VALUES ' +
      seen.map(([server, name]) => `('ns', '${server}', '${name}', 1)`).join(),
  )

/** Stores that names were seen with one name server. */
export const seenWith = (service: TestService, server: string, names: readonly string[]) =>
  storeSeen(
    service,
    names.map((name) => [server, name]),
  )
