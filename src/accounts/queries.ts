import { sql } from '../database/sql.ts'
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
}

export const accountByDigest = (digest: string) => sql<AccountRow>`
  SELECT accounts.id, accounts.name, accounts.service
  FROM keys JOIN accounts ON accounts.id = keys.account_id
  WHERE keys.digest = ${digest} AND keys.revoked_at IS NULL`

export const accountByName = (name: string) => sql<AccountRow>`
  SELECT id, name, service FROM accounts WHERE name = ${name}`

export const accountById = (id: number) => sql<{ name: string }>`SELECT name FROM accounts WHERE id = ${id}`

export const accountsOf = (service: Service) => sql<AccountRow>`
  SELECT id, name, service FROM accounts WHERE service = ${service} ORDER BY name`

export const insertAccount = (name: string, service: Service, now: number) => sql`
  INSERT INTO accounts (name, service, created_at) VALUES (${name}, ${service}, ${now})`

export const insertKey = (id: string, accountId: number, digest: string, now: number) => sql`
  INSERT INTO keys (id, account_id, digest, created_at) VALUES (${id}, ${accountId}, ${digest}, ${now})`

export const allKeys = () => sql<KeyRow>`
  SELECT keys.id, accounts.name AS account, accounts.service, keys.created_at, keys.revoked_at
  FROM keys JOIN accounts ON accounts.id = keys.account_id
  ORDER BY accounts.name, keys.created_at, keys.id`

export const revokeKey = (id: string, now: number) => sql`
  UPDATE keys SET revoked_at = ${now} WHERE id = ${id} AND revoked_at IS NULL`

export const keyById = (id: string) => sql<{ id: string }>`SELECT id FROM keys WHERE id = ${id}`

export const countAccounts = () => sql<{ count: number }>`SELECT count(*) AS count FROM accounts`
