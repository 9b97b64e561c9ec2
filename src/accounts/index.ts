import type { Client } from '../lib/client.ts'
import { lruCache } from '../lib/lru-cache.ts'
import type { Clock } from '../lib/clock.ts'
import { isDisplayName } from '../lib/text.ts'
import { type Database, type Transaction, VersionedCache } from '../storage/database/database.ts'
import { lockInstance } from '../storage/database/dialect.ts'
import type { Query } from '../storage/database/sql.ts'
import type { Identity } from '../http/auth/authenticator.ts'
import {
  type ApiKey,
  type CreateKeyOutcome,
  type KeyLimits,
  type KeyRecord,
  MAX_ACCOUNT_CHARACTERS,
  type Service,
  UNLIMITED,
} from '../http/auth/key-limits.ts'
import * as queries from './queries.ts'
import { hash, randomBytes } from 'node:crypto'

/** 32 letters and digits, 5 bits each, without those that are easily confused. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789'

/**
 * Returns the digest of a key, the only form in which it is stored. A plain hash is enough, because a key is random and not a
 * password. Looking it up in an index leaks no timing: an attacker cannot choose the leading characters of a digest.
 */
function digestOf(key: string): string {
  return hash('sha256', key)
}

/**
 * Returns the digest of a limited key. It differs from `digestOf`, so that a node of a version without limits rejects the key
 * instead of taking it for an unlimited one.
 */
function toLimitedDigest(key: string): string {
  return hash('sha256', `limited ${key}`)
}

function randomText(length: number): string {
  let text = ''
  for (const byte of randomBytes(length)) text += ALPHABET[byte & 31]
  return text
}

/** Identities cached until any key changes. */
const MAX_CACHED_KEYS = 10_000
const MAX_CACHED_NAMES = 1_000
const KEPT_EXPIRED_MS = 30 * 86_400_000
const SESSION_MS = 12 * 3_600_000

/** The accounts and their keys. */
export function createAccounts(database: Database, clock: Clock) {
  const cache = new VersionedCache<Identity>(database, 'key', MAX_CACHED_KEYS)
  const names = lruCache<string, number>(MAX_CACHED_NAMES)
  const uses = recordKeyUses(database, clock)
  const oldKeys = () => queries.isOld(clock.now() - KEPT_EXPIRED_MS, clock.now() - SESSION_MS)
  const removeKeys = (matches: Query): Promise<void> =>
    database.transaction(async (tx) => {
      for (const query of queries.deleteKeys(matches)) await tx.run(query)
    })

  return {
    /**
     * Returns who holds a key. Undefined if it is unknown or revoked: any change of a key clears the cache, so a revocation
     * takes effect with its commit.
     * @param client whose turn a read from the database uses
     */
    identify: async (key: string, client: Client): Promise<Identity | undefined> => {
      const identity = await cache.get(key, async () => {
        const row = await database
          .readerOf(client)
          .first(queries.getHolder([digestOf(key), toLimitedDigest(key)]))
        if (row === undefined) return undefined
        const { id: accountId, key_id: keyId, name: account, service } = row
        return { accountId, keyId, account, service, ...toLimits(row) }
      })
      if (identity !== undefined) uses.record(identity.keyId)
      return identity
    },

    /** The same from memory. Undefined also if the database has to be asked. */
    identifyCached: (key: string): Identity | undefined => {
      const identity = cache.peek(key)
      if (identity !== undefined) uses.record(identity.keyId)
      return identity
    },

    /** Creates a key, and its account if there is none. Without limits the key has full scope and never expires. */
    createKey: async (name: string, service: Service, limits = UNLIMITED): Promise<CreateKeyOutcome> => {
      const account = name.trim().normalize('NFC')
      if (account === '' || account.length > MAX_ACCOUNT_CHARACTERS || !isDisplayName(account)) {
        return {
          kind: 'bad-name',
          takes: `1 to ${MAX_ACCOUNT_CHARACTERS} characters, none of them a control or invisible character`,
        }
      }
      return database.transaction((tx) => addKey(tx, account, service, { limits, now: clock.now() }))
    },

    /**
     * Creates a key that expires after 12 hours.
     * @param admins the names of administrators that may have one
     * @returns undefined if the account does not exist or is an administrator without permission
     */
    openSession: (name: string, admins: readonly string[]) =>
      database.transaction(async (tx) => {
        const account = name.trim().normalize('NFC')
        const service =
          (await tx.first(queries.accountByName(account)))?.service ??
          ((await tx.first(queries.administratorByName(account))) && admins.includes(account)
            ? 'admin'
            : undefined)
        if (service === undefined) return undefined
        const now = clock.now()
        const limits = { ...UNLIMITED, expiresAt: now + SESSION_MS }
        const outcome = await addKey(tx, account, service, { limits, now, idPrefix: queries.SESSION_ID })
        return outcome.kind === 'created' ? { ...outcome, service, expiresAt: limits.expiresAt } : undefined
      }),

    keys: async (): Promise<KeyRecord[]> =>
      (await database.all(queries.allKeys())).map((row) => {
        const { id, account, service, created_at, revoked_at, used_at } = row
        return { id, account, service, created_at, revoked_at, used_at, ...toLimits(row) }
      }),

    accounts: () => database.all(queries.allAccounts()),

    /** Stores which keys were used since the last call. */
    writeUses: () => uses.write(),

    revoke: (id: string): Promise<'revoked' | 'already-revoked' | 'unknown'> =>
      database.transaction(async (tx) => {
        const now = clock.now()
        const changed =
          (await tx.run(queries.revokeKey(id, now))) + (await tx.run(queries.revokeAdministrator(id, now)))
        if (changed > 0) return 'revoked'
        const known = await tx.first(queries.anyKey(queries.isKey(id)))
        return known === undefined ? 'unknown' : 'already-revoked'
      }),

    /**
     * Creates a key that reads the records of an account, for a check that removes it. It never expires, because the clock of the
     * checked service may differ; a key that is left is swept like that of a session.
     */
    createProbeKey: (account: string) =>
      database.transaction((tx) => {
        const limits = { ...UNLIMITED, scope: 'read' } as const
        return addKey(tx, account, 'domainwatch', { limits, now: clock.now(), idPrefix: queries.SESSION_ID })
      }),

    remove: (id: string): Promise<void> => removeKeys(queries.isKey(id)),

    /** Removes keys of sessions that ended, and other keys long after they expired: until then their holders learn that. */
    sweepKeys: (): Promise<void> => removeKeys(oldKeys()),

    find: (name: string) => database.first(queries.accountByName(name.trim().normalize('NFC'))),

    /** Lists the accounts of a service, ordered by name. */
    ofService: (service: Service) => database.all(queries.getAccounts(service)),

    /** Returns the name of an account, which never changes. Undefined if there is none. */
    nameOf: async (id: number): Promise<string | undefined> => {
      const name = names.get(id) ?? (await database.first(queries.accountById(id)))?.name
      if (name !== undefined) names.set(id, name)
      return name
    },

    /**
     * Creates these accounts, with a key each, if there are none at all. Of nodes that start together, one creates them.
     * @returns the keys, in that order; undefined if there are accounts
     */
    createFirst: async (
      accounts: readonly { readonly name: string; readonly service: Service }[],
    ): Promise<readonly ApiKey[] | undefined> => {
      const isEmpty = async (on: Pick<Transaction, 'first'>) =>
        (await on.first(queries.countAccounts()))?.count === 0
      // Checked at every start without a lock, so that it does not wait for writers.
      if (!(await isEmpty(database))) return undefined
      return database.transaction(async (tx) => {
        await tx.all(lockInstance(database.dialect))
        if (!(await isEmpty(tx))) return undefined
        const created: ApiKey[] = []
        for (const { name, service } of accounts) {
          const outcome = await addKey(tx, name, service, { limits: UNLIMITED, now: clock.now() })
          if (outcome.kind !== 'created')
            throw new Error(`the first key could not be created: ${outcome.kind}`)
          created.push(outcome.key)
        }
        return created
      })
    },
  }
}

function toLimits({ scope, expires_at, rate_count, rate_ms }: queries.LimitsRow): KeyLimits {
  const rate = rate_count === null || rate_ms === null ? null : { count: rate_count, periodMs: rate_ms }
  return { scope, expiresAt: expires_at, rate }
}

function isLimited({ scope, expiresAt, rate }: KeyLimits): boolean {
  return scope !== 'full' || expiresAt !== null || rate !== null
}

async function addKey(
  tx: Transaction,
  account: string,
  service: Service,
  {
    limits,
    now,
    idPrefix = '',
  }: { readonly limits: KeyLimits; readonly now: number; readonly idPrefix?: string },
): Promise<Exclude<CreateKeyOutcome, { kind: 'bad-name' }>> {
  const found =
    service === 'admin' ? await administrator(tx, account) : await accountFor(tx, account, service, now)
  if (found.kind === 'other-service') return found
  // 160 random bits, shown to the holder once and never stored; the id is public.
  const [key, id] = [randomText(32) as ApiKey, `${idPrefix}${randomText(10)}`]
  const digest = isLimited(limits) ? toLimitedDigest(key) : digestOf(key)
  await tx.run(found.insert({ id, digest, now, limits }))
  return { kind: 'created', account, key, id }
}

type Holder =
  | { readonly kind: 'other-service'; readonly service: Service }
  | { readonly kind: 'found'; readonly insert: (key: queries.NewKey) => Query }

/** Finds the account, or creates it. */
async function accountFor(tx: Transaction, name: string, service: Service, now: number): Promise<Holder> {
  let row = await tx.first(queries.accountByName(name))
  if (row === undefined) {
    if ((await tx.first(queries.administratorByName(name))) !== undefined) {
      return { kind: 'other-service', service: 'admin' }
    }
    await tx.run(queries.insertAccount(name, service, now))
    row = await tx.first(queries.accountByName(name))
  }
  if (row === undefined) throw new Error('the account just inserted is not there')
  if (row.service !== service) return { kind: 'other-service', service: row.service }
  const { id: accountId } = row
  return { kind: 'found', insert: (key) => queries.insertKey(accountId, key) }
}

/** Administrators have no account: the name is part of their keys. */
async function administrator(tx: Transaction, name: string): Promise<Holder> {
  const row = await tx.first(queries.accountByName(name))
  if (row !== undefined) return { kind: 'other-service', service: row.service }
  return { kind: 'found', insert: (key) => queries.insertAdministrator(name, key) }
}

/** Limits the keys remembered between two writes. Others are recorded at a later use. */
const MAX_RECORDED = 10_000
/** Minimum interval between two writes of one key. */
const WRITE_INTERVAL_MS = 5 * 60_000

/** Records when keys were last used, to within a few minutes. Written in batches, so that no request waits for it. */
function recordKeyUses(database: Database, clock: Clock) {
  const recorded = new Map<string, number>()
  const written = new Map<string, number>()
  return {
    record(keyId: string): void {
      const now = clock.now()
      if (now - (written.get(keyId) ?? -Infinity) < WRITE_INTERVAL_MS) return
      if (recorded.size < MAX_RECORDED || recorded.has(keyId)) recorded.set(keyId, now)
    },

    /** Stores the uses since the last call. After a failure, they are recorded again at the next use. */
    async write(): Promise<void> {
      if (recorded.size === 0) return
      const uses = [...recorded]
      recorded.clear()
      if (written.size + uses.length > MAX_RECORDED) written.clear()
      await database.transaction(async (tx) => {
        for (const [id, at] of uses) await tx.run(queries.recordUse(id, at))
      })
      for (const [id, at] of uses) written.set(id, at)
    },
  }
}
