import { sql, type Sql } from '../database/sql.ts'
import type { Service } from '../http/authentication.ts'

export interface AccountRow {
  readonly id: number
  readonly name: string
  readonly service: Service
}

export interface KeyRow {
  readonly id: string
  readonly account: string
  readonly service: Service
  readonly created_at: number
  readonly revoked_at: number | null
  /** To within some minutes; null for one that never was. */
  readonly used_at: number | null
}

export const holderOf = (digest: string) => sql<AccountRow & { key_id: string }>`
  SELECT accounts.id, accounts.name, accounts.service, keys.id AS key_id
  FROM keys JOIN accounts ON accounts.id = keys.account_id
  WHERE keys.digest = ${digest} AND keys.revoked_at IS NULL
  UNION ALL
  SELECT 0, name, 'admin', id FROM administrators WHERE digest = ${digest} AND revoked_at IS NULL`

export const accountByName = (name: string) => sql<AccountRow>`
  SELECT id, name, service FROM accounts WHERE name = ${name}`

export const accountById = (id: number) => sql<{ name: string }>`SELECT name FROM accounts WHERE id = ${id}`

export const administratorByName = (name: string) => sql<{ id: string }>`
  SELECT id FROM administrators WHERE name = ${name}`

export const accountsOf = (service: Service) => sql<AccountRow>`
  SELECT id, name, service FROM accounts WHERE service = ${service} ORDER BY name`

export const allAccounts = () => sql<AccountRow & { created_at: number }>`
  SELECT id, name, service, created_at FROM accounts ORDER BY name`

export const insertAccount = (name: string, service: Service, now: number) => sql`
  INSERT INTO accounts (name, service, created_at) VALUES (${name}, ${service}, ${now})`

export const insertKey = (id: string, accountId: number, digest: string, now: number) => sql`
  INSERT INTO keys (id, account_id, digest, created_at) VALUES (${id}, ${accountId}, ${digest}, ${now})`

export const insertAdministrator = (id: string, name: string, digest: string, now: number) => sql`
  INSERT INTO administrators (id, name, digest, created_at) VALUES (${id}, ${name}, ${digest}, ${now})`

export const allKeys = () => sql<KeyRow>`
  SELECT every_key.id, account, service, created_at, revoked_at, key_uses.used_at
  FROM (
    SELECT keys.id, accounts.name AS account, accounts.service, keys.created_at, keys.revoked_at
    FROM keys JOIN accounts ON accounts.id = keys.account_id
    UNION ALL
    SELECT id, name, 'admin', created_at, revoked_at FROM administrators
  ) AS every_key
  LEFT JOIN key_uses ON key_uses.id = every_key.id
  ORDER BY account, created_at, every_key.id`

export const revokeKey = (id: string, now: number) => sql`
  UPDATE keys SET revoked_at = ${now} WHERE id = ${id} AND revoked_at IS NULL`

export const revokeAdministrator = (id: string, now: number) => sql`
  UPDATE administrators SET revoked_at = ${now} WHERE id = ${id} AND revoked_at IS NULL`

export const keyById = (id: string) => sql<{ id: string }>`
  SELECT id FROM keys WHERE id = ${id} UNION ALL SELECT id FROM administrators WHERE id = ${id}`

/** There is one row of it: who holds it is alone at what is done once for all. */
export const lockInstance = (forUpdate: Sql) => sql`SELECT id FROM instance ${forUpdate}`

export const countAccounts = () => sql<{ count: number }>`SELECT count(*) AS count FROM accounts`

/** Other processes note uses of the same key: the latest counts. */
export const noteUse = (id: string, now: number) => sql`
  INSERT INTO key_uses (id, used_at) VALUES (${id}, ${now})
  ON CONFLICT (id) DO UPDATE SET used_at = excluded.used_at WHERE key_uses.used_at < excluded.used_at`
