import { sql, type Sql } from '../storage/database/sql.ts'

/** The services whose accounts have watches. Those of imagestore are the hooks of applications. */
export type WatchService = 'domainwatch' | 'imagestore'

/** What a watch looks for, and how it is reported. */
export interface WatchProperties {
  readonly name: string
  readonly filters: string
  readonly changes: string
  readonly language: string
  /** HH:MM; null for immediate messages. */
  readonly digest: string | null
}

/** True if the account has a valid key. Without one it is no longer notified. */
export const hasKey = (now: number): Sql => sql`EXISTS (
  SELECT 1 FROM keys WHERE keys.account_id = watches.account_id AND revoked_at IS NULL
    AND (expires_at IS NULL OR expires_at > ${now}))`

/** True for watches of accounts of a service. */
export const isOfService = (service: WatchService): Sql =>
  sql`EXISTS (SELECT 1 FROM accounts WHERE accounts.id = watches.account_id AND service = ${service})`

/** True for the account that created a watch and, if it is shared, for every other. */
export const isAccessible = (accountId: number): Sql =>
  sql`(watches.account_id = ${accountId} OR watches.shared = 1)`

export const lockAccount = (id: number, forUpdate: Sql) =>
  sql`SELECT id FROM accounts WHERE id = ${id} ${forUpdate}`

export const countWatches = (accountId: number) => sql<{ count: number }>`
  SELECT count(*) AS count FROM watches WHERE account_id = ${accountId}`

export interface NewWatch extends Pick<WatchProperties, 'name' | 'filters' | 'changes' | 'language'> {
  readonly id: string
  readonly account_id: number
  readonly secret: string | null
}

/** Inserts a watch without destinations, which the same transaction adds. */
export const insertWatch = (
  { id, account_id, name, filters, changes, language, secret }: NewWatch,
  now: number,
) => sql`
  INSERT INTO watches (id, account_id, name, filters, changes, created_at, state, language, secret)
  VALUES (${id}, ${account_id}, ${name}, ${filters}, ${changes}, ${now}, 'active', ${language}, ${secret})`

export const anyWatch = (service: WatchService) => sql<{ id: string }>`
  SELECT id FROM watches WHERE ${isOfService(service)} LIMIT 1`
