import type { Cursor } from '../../storage/database/changes/change.ts'
import { limit, sql, type Sql } from '../../storage/database/sql.ts'

/** A watch as its owner sees it. */
export interface WatchRow {
  readonly id: string
  readonly name: string
  readonly filters: string
  readonly changes: string
  readonly created_at: number
  readonly feed_digest: string | null
}

/** A watch as the notifier of its feed needs it. */
export interface FeedState {
  readonly id: string
  readonly filters: string
  readonly changes: string
  readonly feed_cursor: Cursor | null
  readonly feed: string | null
}

/** True if the account has a valid key. Without one it is no longer notified. */
export const hasKey = (now: number): Sql => sql`EXISTS (
  SELECT 1 FROM keys WHERE keys.account_id = watches.account_id AND revoked_at IS NULL
    AND (expires_at IS NULL OR expires_at > ${now}))`

export const lockAccount = (id: number, forUpdate: Sql) =>
  sql`SELECT id FROM accounts WHERE id = ${id} ${forUpdate}`

export const countWatches = (accountId: number) => sql<{ count: number }>`
  SELECT count(*) AS count FROM watches WHERE account_id = ${accountId}`

export interface NewWatch {
  readonly id: string
  readonly accountId: number
  readonly name: string
  readonly filters: string
  readonly changes: string
  readonly now: number
  readonly secret: string | null
  readonly feedDigest: string | null
  readonly cursor: string
}

export const insertWatch = (watch: NewWatch) => sql`
  INSERT INTO watches (id, account_id, name, filters, changes, created_at, state, secret, feed_digest, feed_cursor, feed)
  VALUES (${watch.id}, ${watch.accountId}, ${watch.name}, ${watch.filters}, ${watch.changes}, ${watch.now}, 'active',
    ${watch.secret}, ${watch.feedDigest}, ${watch.feedDigest === null ? null : watch.cursor},
    ${watch.feedDigest === null ? null : '[]'})`

export const watchesOf = (accountId: number, count: number) => sql<WatchRow>`
  SELECT id, name, filters, changes, created_at, feed_digest
  FROM watches WHERE account_id = ${accountId} ORDER BY created_at, id ${limit(count)}`

export const deleteWatch = (accountId: number, id: string) => sql`
  DELETE FROM watches WHERE account_id = ${accountId} AND id = ${id}`

export const feedById = (id: string) => sql<FeedState>`
  SELECT id, filters, changes, feed_cursor, feed FROM watches WHERE id = ${id}`

export const anyWatch = () => sql<{ id: string }>`SELECT id FROM watches LIMIT 1`

/** Selects the watches whose feeds need a notifier. */
export const feedsToNotify = (now: number) => sql<{ id: string }>`
  SELECT id FROM watches WHERE feed_digest IS NOT NULL AND ${hasKey(now)}`

export interface FeedRow {
  readonly id: string
  readonly name: string
  readonly filters: string
  readonly feed: string
}

export const feedByDigest = (digest: string, now: number) => sql<FeedRow>`
  SELECT id, name, filters, feed FROM watches WHERE feed_digest = ${digest} AND ${hasKey(now)}`

export const storeFeed = (id: string, feed: string, cursor: string) => sql`
  UPDATE watches SET feed = ${feed}, feed_cursor = ${cursor} WHERE id = ${id}`
