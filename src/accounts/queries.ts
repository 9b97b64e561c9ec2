import { join, raw, sql, type Query } from '../storage/database/sql.ts'
import type { AccountRecord, KeyLimits, KeyRecord, Scope, Service } from '../http/auth/key-limits.ts'

export type AccountRow = Omit<AccountRecord, 'created_at'>

/** The limits of a key. */
export interface LimitsRow {
  readonly scope: Scope
  /** Milliseconds since 1970; null for never. */
  readonly expires_at: number | null
  readonly rate_count: number | null
  readonly rate_ms: number | null
}

export type KeyRow = Omit<KeyRecord, keyof KeyLimits> & LimitsRow

const LIMITS = raw('scope, expires_at, rate_count, rate_ms')

/** @param digests all digests that the key may be stored under */
export const getHolder = (digests: readonly string[]) => sql<AccountRow & LimitsRow & { key_id: string }>`
  SELECT accounts.id, accounts.name, accounts.service, keys.id AS key_id, ${LIMITS}
  FROM keys JOIN accounts ON accounts.id = keys.account_id
  WHERE keys.digest IN (${join([...digests])}) AND keys.revoked_at IS NULL
  UNION ALL
  SELECT 0, name, 'admin', id, ${LIMITS} FROM administrators
  WHERE digest IN (${join([...digests])}) AND revoked_at IS NULL`

export const accountByName = (name: string) => sql<AccountRow>`
  SELECT id, name, service FROM accounts WHERE name = ${name}`

export const accountById = (id: number) => sql<{ name: string }>`SELECT name FROM accounts WHERE id = ${id}`

export const administratorByName = (name: string) => sql<{ id: string }>`
  SELECT id FROM administrators WHERE name = ${name}`

export const getAccounts = (service: Service) => sql<AccountRow>`
  SELECT id, name, service FROM accounts WHERE service = ${service} ORDER BY name`

export const allAccounts = () => sql<AccountRecord>`
  SELECT id, name, service, created_at FROM accounts ORDER BY name`

export const insertAccount = (name: string, service: Service, now: number) => sql`
  INSERT INTO accounts (name, service, created_at) VALUES (${name}, ${service}, ${now})`

/** A new key without its secret. */
export interface NewKey {
  readonly id: string
  readonly digest: string
  readonly now: number
  readonly limits: KeyLimits
}

const limitValues = ({ scope, expiresAt, rate }: KeyLimits) =>
  sql`${scope}, ${expiresAt}, ${rate?.count ?? null}, ${rate?.periodMs ?? null}`

export const insertKey = (accountId: number, { id, digest, now, limits }: NewKey) => sql`
  INSERT INTO keys (id, account_id, digest, created_at, ${LIMITS})
  VALUES (${id}, ${accountId}, ${digest}, ${now}, ${limitValues(limits)})`

export const insertAdministrator = (name: string, { id, digest, now, limits }: NewKey) => sql`
  INSERT INTO administrators (id, name, digest, created_at, ${LIMITS})
  VALUES (${id}, ${name}, ${digest}, ${now}, ${limitValues(limits)})`

export const allKeys = () => sql<KeyRow>`
  SELECT every_key.id, account, service, created_at, revoked_at, ${LIMITS}, key_uses.used_at
  FROM (
    SELECT keys.id, accounts.name AS account, accounts.service, keys.created_at, keys.revoked_at, ${LIMITS}
    FROM keys JOIN accounts ON accounts.id = keys.account_id
    UNION ALL
    SELECT id, name, 'admin', created_at, revoked_at, ${LIMITS} FROM administrators
  ) AS every_key
  LEFT JOIN key_uses ON key_uses.id = every_key.id
  ORDER BY account, created_at, every_key.id`

export const revokeKey = (id: string, now: number) => sql`
  UPDATE keys SET revoked_at = ${now} WHERE id = ${id} AND revoked_at IS NULL`

export const revokeAdministrator = (id: string, now: number) => sql`
  UPDATE administrators SET revoked_at = ${now} WHERE id = ${id} AND revoked_at IS NULL`

/** How the ids of session keys begin. */
export const SESSION_ID = 'session-'

/** Matches keys that expired before a time, and those of sessions that began before another. */
export const isOld = (expiredBefore: number, begunBefore: number) => sql`
  (expires_at < ${expiredBefore} OR (created_at < ${begunBefore} AND id LIKE ${`${SESSION_ID}%`}))`

export const isKey = (id: string) => sql`id = ${id}`

export const anyKey = (matches: Query) => sql<{ id: string }>`
  SELECT id FROM keys WHERE ${matches} UNION ALL SELECT id FROM administrators WHERE ${matches} LIMIT 1`

/** Removes keys with what is known of their use. */
export const deleteKeys = (matches: Query) => [
  sql`DELETE FROM key_uses WHERE id IN (SELECT id FROM keys WHERE ${matches}
    UNION ALL SELECT id FROM administrators WHERE ${matches})`,
  sql`DELETE FROM keys WHERE ${matches}`,
  sql`DELETE FROM administrators WHERE ${matches}`,
]

export const countAccounts = () => sql<{ count: number }>`SELECT count(*) AS count FROM accounts`

/** Keeps the latest time, because other processes record uses of the same key, and none of a key that was removed. */
export const recordUse = (id: string, now: number) => sql`
  INSERT INTO key_uses (id, used_at) SELECT id, ${now} FROM (${anyKey(isKey(id))}) AS known WHERE true
  ON CONFLICT (id) DO UPDATE SET used_at = excluded.used_at WHERE key_uses.used_at < excluded.used_at`
