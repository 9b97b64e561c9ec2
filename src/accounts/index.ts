import { LRUCache } from 'lru-cache'
import type { Clock } from '../core/clock.ts'
import type { Database } from '../database/database.ts'
import { VersionedCache } from '../database/versioned-cache.ts'
import type { Identity, Service } from '../http/authentication.ts'
import { digestOf, newApiKey, newKeyId, type ApiKey } from './keys.ts'
import * as queries from './queries.ts'

/** Keys that are looked up in memory while no key changes. */
const MAX_CACHED_KEYS = 10_000
const MAX_NAME_LENGTH = 100
const MAX_CACHED_NAMES = 1_000

export type CreateKeyOutcome =
  | { readonly kind: 'created'; readonly key: ApiKey; readonly id: string }
  | { readonly kind: 'other-service'; readonly service: Service }
  | { readonly kind: 'bad-name'; readonly takes: string }

export interface Accounts {
  /** Who holds this key; undefined when it is unknown or revoked, from the moment of revocation on. */
  readonly identify: (key: string) => Promise<Identity | undefined>
  /** Makes a key, and the account where there is none of that name. */
  createKey(account: string, service: Service): Promise<CreateKeyOutcome>
  keys(): Promise<queries.KeyRow[]>
  revoke(id: string): Promise<'revoked' | 'already-revoked' | 'unknown'>
  /** The account of that name. */
  find(name: string): Promise<queries.AccountRow | undefined>
  /** The accounts of a service, by name. */
  ofService(service: Service): Promise<queries.AccountRow[]>
  /** The name of an account, which never changes; undefined where there is none. */
  readonly nameOf: (id: number) => Promise<string | undefined>
  /** Whether there is no account at all: the first run. */
  isEmpty(): Promise<boolean>
}

export function createAccounts(database: Database, clock: Clock): Accounts {
  const cache = new VersionedCache<Identity>(database, 'key', MAX_CACHED_KEYS)
  const known = new LRUCache<number, string>({ max: MAX_CACHED_NAMES })

  return {
    // The cache forgets all when any key changes, so a revocation counts from its own commit on.
    identify: (key) =>
      cache.get(key, async () => {
        const row = await database.first(queries.accountByDigest(digestOf(key)))
        return row && { accountId: row.id, account: row.name, service: row.service }
      }),

    async createKey(name, service) {
      const account = name.trim().normalize('NFC')
      if (account === '' || account.length > MAX_NAME_LENGTH || /\p{Cc}/u.test(account)) {
        return {
          kind: 'bad-name',
          takes: `1 to ${MAX_NAME_LENGTH} characters, none of them a control character`,
        }
      }
      const key = newApiKey()
      const id = newKeyId()
      const now = clock.now()
      return database.transaction(async (tx) => {
        let row = await tx.first(queries.accountByName(account))
        if (row === undefined) {
          await tx.run(queries.insertAccount(account, service, now))
          row = await tx.first(queries.accountByName(account))
        }
        if (row === undefined) throw new Error('the account just inserted is not there')
        if (row.service !== service) return { kind: 'other-service', service: row.service }
        await tx.run(queries.insertKey(id, row.id, digestOf(key), now))
        return { kind: 'created', key, id }
      })
    },

    keys: () => database.all(queries.allKeys()),

    revoke: (id) =>
      database.transaction(async (tx) => {
        const changed = await tx.run(queries.revokeKey(id, clock.now()))
        if (changed > 0) return 'revoked'
        return (await tx.first(queries.keyById(id))) === undefined ? 'unknown' : 'already-revoked'
      }),

    find: (name) => database.first(queries.accountByName(name.trim().normalize('NFC'))),

    ofService: (service) => database.all(queries.accountsOf(service)),

    async nameOf(id) {
      const name = known.get(id) ?? (await database.first(queries.accountById(id)))?.name
      if (name !== undefined) known.set(id, name)
      return name
    },

    isEmpty: async () => (await database.first(queries.countAccounts()))?.count === 0,
  }
}
