import type { Dialect } from '../storage/database/dialect.ts'
import { limit, sql } from '../storage/database/sql.ts'

/** What an application may hold; null for no bound. */
export interface Limits {
  readonly max_bytes: number | null
  readonly max_images: number | null
}

export interface Total {
  readonly images: number
  readonly bytes: number
}

export interface Usage extends Total {
  /** Days since 1970, in UTC. */
  readonly day: number
  readonly mime: string
}

export const limitsOf = (accountId: number) => sql<Limits>`
  SELECT max_bytes, max_images FROM image_limits WHERE account_id = ${accountId}`

export const allLimits = () => sql<Limits & { account_id: number }>`
  SELECT account_id, max_bytes, max_images FROM image_limits`

/** Kept until the transaction ends: uploads of an application that has limits take their turns. */
export const holdLimits = (dialect: Dialect, accountId: number) =>
  sql<Limits>`${limitsOf(accountId)} ${dialect.forUpdate}`

export const setLimits = (accountId: number, { max_bytes, max_images }: Limits) => sql`
  INSERT INTO image_limits (account_id, max_bytes, max_images) VALUES (${accountId}, ${max_bytes}, ${max_images})
  ON CONFLICT (account_id) DO UPDATE SET max_bytes = excluded.max_bytes, max_images = excluded.max_images`

export const totalOf = (accountId: number) => sql<Total>`
  SELECT images, bytes FROM image_totals WHERE account_id = ${accountId}`

/** Whether the application has a record of this image, over or not. */
export const hasImage = (accountId: number, hash: string) => sql<{ hash: string }>`
  SELECT hash FROM images WHERE account_id = ${accountId} AND hash = ${hash}`

/** What it uses; what of that is over and was not removed yet is taken off. One statement, lest a sweep fall between two. */
export const usageAt = (accountId: number, now: number) => sql<Usage>`
  SELECT day, mime, images, bytes FROM image_usage WHERE account_id = ${accountId} AND images > 0
  UNION ALL
  SELECT images.date / 86400, blobs.mime, -count(*), CAST(-sum(blobs.size) AS bigint)
  FROM images JOIN blobs ON blobs.hash = images.hash
  WHERE images.account_id = ${accountId} AND images.expires <= ${now}
  GROUP BY 1, 2`

/** Images whose time is over, in the order in which their blobs are locked. */
export const overImages = (now: number, count: number) => sql<{ account_id: number; hash: string }>`
  SELECT account_id, hash FROM images WHERE expires <= ${now} ORDER BY hash, account_id ${limit(count)}`

export const overImagesOf = (accountId: number, now: number, count: number) => sql<{ hash: string }>`
  SELECT hash FROM images WHERE expires <= ${now} AND account_id = ${accountId} ORDER BY hash ${limit(count)}`

/** Removes an image if its time is over: it may have been uploaded again since it was found. */
export const deleteOverImage = (accountId: number, hash: string, now: number) => sql`
  DELETE FROM images WHERE account_id = ${accountId} AND hash = ${hash} AND expires <= ${now}`

export const anyOver = (now: number) => sql<{ hash: string }>`
  SELECT hash FROM images WHERE expires <= ${now} LIMIT 1`

/** Addresses of uploaders before a moment, seconds since 1970. */
export const anyAddress = (before: number) => sql<{ hash: string }>`
  SELECT hash FROM images WHERE ip <> '' AND date < ${before} LIMIT 1`

export const eraseAddresses = (before: number, count: number) => sql`
  UPDATE images SET ip = '' WHERE (account_id, hash) IN (
    SELECT account_id, hash FROM images WHERE ip <> '' AND date < ${before} ORDER BY date ${limit(count)})`
