import type { Cursor } from '../../storage/database/changes/change.ts'
import { limit, sql, type Sql } from '../../storage/database/sql.ts'

/** A watch as its owner sees it. */
export interface WatchRow {
  readonly id: string
  readonly name: string
  readonly filters: string
  readonly changes: string
  readonly created_at: number
  readonly state: string
  readonly url: string | null
  readonly attempts: number
  readonly next_at: number
  readonly delivered_at: number | null
  readonly last_error: string | null
  readonly last_error_at: number | null
  readonly feed_digest: string | null
  readonly delivery_id: string | null
}

/** A watch as its notifiers need it. */
export interface WatchState {
  readonly id: string
  readonly account_id: number
  readonly name: string
  readonly filters: string
  readonly changes: string
  readonly url: string | null
  readonly secret: string | null
  readonly cursor: Cursor | null
  readonly delivery_id: string | null
  readonly delivery_body: string | null
  readonly delivery_cursor: Cursor | null
  readonly attempts: number
  readonly next_at: number
  readonly feed_cursor: Cursor | null
  readonly feed: string | null
}

/** True if the account has a valid key. Without one it is no longer notified. */
const hasKey = (now: number) => sql`EXISTS (
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
  readonly url: string | null
  readonly secret: string | null
  readonly feedDigest: string | null
  readonly cursor: string
}

export const insertWatch = (watch: NewWatch) => sql`
  INSERT INTO watches (id, account_id, name, filters, changes, created_at, state, url, secret, cursor, feed_digest,
    feed_cursor, feed)
  VALUES (${watch.id}, ${watch.accountId}, ${watch.name}, ${watch.filters}, ${watch.changes}, ${watch.now}, 'active',
    ${watch.url}, ${watch.secret}, ${watch.url === null ? null : watch.cursor}, ${watch.feedDigest},
    ${watch.feedDigest === null ? null : watch.cursor}, ${watch.feedDigest === null ? null : '[]'})`

export const watchesOf = (accountId: number, count: number) => sql<WatchRow>`
  SELECT id, name, filters, changes, created_at, state, url, attempts, next_at, delivered_at, last_error, last_error_at,
    feed_digest, delivery_id
  FROM watches WHERE account_id = ${accountId} ORDER BY created_at, id ${limit(count)}`

export const deleteWatch = (accountId: number, id: string) => sql`
  DELETE FROM watches WHERE account_id = ${accountId} AND id = ${id}`

export const ownWatch = (accountId: number, id: string) => sql<WatchState>`
  SELECT * FROM watches WHERE account_id = ${accountId} AND id = ${id}`

export const watchById = (id: string) => sql<WatchState>`SELECT * FROM watches WHERE id = ${id}`

export const anyWatch = () => sql<{ id: string }>`SELECT id FROM watches LIMIT 1`

/** Selects the watches that need notifiers. `webhook` and `feed` are 0 or 1. */
export const watchesToNotify = (now: number) => sql<{ id: string; webhook: number; feed: number }>`
  SELECT id, CASE WHEN url IS NOT NULL AND state = 'active' THEN 1 ELSE 0 END AS webhook,
    CASE WHEN feed_digest IS NOT NULL THEN 1 ELSE 0 END AS feed
  FROM watches WHERE ${hasKey(now)}`

export interface FeedRow {
  readonly id: string
  readonly name: string
  readonly filters: string
  readonly feed: string
}

export const feedByDigest = (digest: string, now: number) => sql<FeedRow>`
  SELECT id, name, filters, feed FROM watches WHERE feed_digest = ${digest} AND ${hasKey(now)}`

export interface NewDelivery {
  readonly id: string
  readonly body: string
  readonly cursor: string
}

/** Stores the next delivery. Changes no row if one is pending already, or the account has no valid key. */
export const beginDelivery = (id: string, delivery: NewDelivery, now: number) => sql`
  UPDATE watches SET delivery_id = ${delivery.id}, delivery_body = ${delivery.body},
    delivery_cursor = ${delivery.cursor}, attempts = 0, next_at = 0
  WHERE id = ${id} AND delivery_id IS NULL AND ${hasKey(now)}`

export const delivered = (id: string, delivery: string, now: number) => sql`
  UPDATE watches SET cursor = delivery_cursor, delivery_id = NULL, delivery_body = NULL, delivery_cursor = NULL,
    attempts = 0, next_at = 0, delivered_at = ${now}, last_error = NULL, last_error_at = NULL
  WHERE id = ${id} AND delivery_id = ${delivery}`

export interface Failure {
  readonly state: 'active' | 'dead'
  readonly attempts: number
  readonly nextAt: number
  readonly error: string
  readonly now: number
}

export const failed = (id: string, delivery: string, { state, attempts, nextAt, error, now }: Failure) => sql`
  UPDATE watches SET state = ${state}, attempts = ${attempts}, next_at = ${nextAt}, last_error = ${error},
    last_error_at = ${now}
  WHERE id = ${id} AND delivery_id = ${delivery}`

/** Resumes deliveries to a receiver that was given up. */
export const revive = (id: string) => sql`
  UPDATE watches SET state = 'active', attempts = 0, next_at = 0 WHERE id = ${id} AND state = 'dead'`

/** Skips changes that are not relevant. */
export const advanceCursor = (id: string, cursor: string) => sql`
  UPDATE watches SET cursor = ${cursor} WHERE id = ${id} AND delivery_id IS NULL`

export const storeFeed = (id: string, feed: string, cursor: string) => sql`
  UPDATE watches SET feed = ${feed}, feed_cursor = ${cursor} WHERE id = ${id}`
