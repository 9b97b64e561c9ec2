import type { Cursor } from '../../storage/database/changes/change.ts'
import { hasKey, isAccessible, type WatchProperties } from '../../deliveries/queries-watches.ts'
import { empty, limit, sql, type Sql } from '../../storage/database/sql.ts'

/** A watch as members see it. */
export interface WatchRow extends WatchProperties {
  readonly id: string
  readonly account_id: number
  /** Name of the account that created it. */
  readonly owner: string
  readonly created_at: number
  readonly feed_digest: string | null
  readonly shared: number
  readonly paused: number
}

/** A watch as the notifier of its Atom feed needs it. */
export interface AtomFeedState extends Pick<WatchProperties, 'filters' | 'changes' | 'language'> {
  readonly id: string
  readonly account_id: number
  /** Counts the edits. */
  readonly version: number
  readonly feed_cursor: Cursor | null
  readonly feed: string | null
}

const SHOWN = sql`watches.id AS id, account_id, accounts.name AS owner, watches.name AS name, filters, changes,
    watches.created_at AS created_at, feed_digest, shared, paused, language, digest
  FROM watches JOIN accounts ON accounts.id = account_id`

/** Selects the watches of an account and those that others share. */
export const watchesFor = (accountId: number, count: number) => sql<WatchRow>`
  SELECT ${SHOWN} WHERE account_id = ${accountId}
  UNION ALL SELECT ${SHOWN} WHERE shared = 1 AND account_id <> ${accountId}
  ORDER BY created_at, id ${limit(count)}`

/** A watch as edits need it. */
export interface EditableWatch extends WatchProperties {
  readonly id: string
  readonly account_id: number
  readonly secret: string | null
  readonly feed_digest: string | null
  readonly shared: number
  readonly paused: number
}

export const accessibleWatch = (accountId: number, id: string, lock: Sql = empty) => sql<EditableWatch>`
  SELECT id, account_id, name, filters, changes, secret, feed_digest, shared, paused, language, digest FROM watches
  WHERE id = ${id} AND ${isAccessible(accountId)} ${lock}`

export const countShared = () =>
  sql<{ count: number }>`SELECT count(*) AS count FROM watches WHERE shared = 1`

export type UpdatedWatch = Omit<EditableWatch, 'account_id' | 'feed_digest'>

/** Without a webhook no secret signs. */
export const updateWatch = (watch: UpdatedWatch) => sql`
  UPDATE watches SET version = version + 1, name = ${watch.name}, filters = ${watch.filters}, changes = ${watch.changes},
    shared = ${watch.shared}, paused = ${watch.paused}, language = ${watch.language}, digest = ${watch.digest},
    secret = ${watch.secret}
    ${watch.secret === null ? sql`, previous_secret = NULL, previous_secret_until = NULL` : empty}
  WHERE id = ${watch.id}`

export const replaceSecret = (id: string, secret: string, previousUntil: number) => sql`
  UPDATE watches SET version = version + 1, previous_secret = secret, previous_secret_until = ${previousUntil},
    secret = ${secret}
  WHERE id = ${id}`

export const addAtomFeed = (id: string, digest: string, cursor: string) => sql`
  UPDATE watches SET feed_digest = ${digest}, feed_cursor = ${cursor}, feed = '[]' WHERE id = ${id}`

export const removeAtomFeed = (id: string) => sql`
  UPDATE watches SET feed_digest = NULL, feed_cursor = NULL, feed = NULL WHERE id = ${id}`

export const skipAtomFeedTo = (id: string, cursor: string) => sql`
  UPDATE watches SET feed_cursor = ${cursor} WHERE id = ${id} AND feed_digest IS NOT NULL`

export const deleteWatch = (id: string) => sql`DELETE FROM watches WHERE id = ${id}`

export const atomFeedById = (id: string) => sql<AtomFeedState>`
  SELECT id, account_id, version, filters, changes, language, feed_cursor, feed FROM watches WHERE id = ${id}`

/** Selects the watches whose Atom feeds need a notifier. */
export const atomFeedsToNotify = (now: number) => sql<{ id: string; version: number }>`
  SELECT id, version FROM watches WHERE feed_digest IS NOT NULL AND paused = 0 AND ${hasKey(now)}`

export interface AtomFeedRow extends Pick<WatchProperties, 'name' | 'filters' | 'language'> {
  readonly id: string
  readonly feed: string
}

export const atomFeedByDigest = (digest: string, now: number) => sql<AtomFeedRow>`
  SELECT id, name, filters, language, feed FROM watches WHERE feed_digest = ${digest} AND ${hasKey(now)}`

/** Changes no row if the watch was edited or paused since it was at `version`. */
export const storeAtomFeed = (id: string, version: number, feed: string, cursor: string) => sql`
  UPDATE watches SET feed = ${feed}, feed_cursor = ${cursor} WHERE id = ${id} AND version = ${version} AND paused = 0`
