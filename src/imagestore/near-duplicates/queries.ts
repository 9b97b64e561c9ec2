import { isOneOf, type Dialect } from '../../storage/database/dialect.ts'
import { limit, sql } from '../../storage/database/sql.ts'
import type { ImageRow } from '../image-fields.ts'
import { IMAGE_COLUMNS, notExpired } from '../queries.ts'

/** Distinct hashes of an application's images after one, concatenated: a row for each would take ten times as long. */
export const hashesAfter = (accountId: number, after: string, count: number) => sql<{
  readonly packed: string | null
  readonly last: string | null
  readonly count: number
}>`
  SELECT string_agg(dhash, '') AS packed, max(dhash) AS last, count(*) AS count FROM (
    SELECT DISTINCT dhash FROM image_dhashes WHERE account_id = ${accountId} AND dhash > ${after}
    ORDER BY dhash ${limit(count)}) AS page`

/** Images stored by changes after an id, settled or not. The topic is compared twice to make SQLite use the right index. */
export const storedAfter = (after: number, count: number) => sql<{
  readonly id: number
  readonly account_id: number | null
  readonly dhash: string | null
}>`
  SELECT changes.id, changes.account_id, (SELECT blobs.dhash FROM blobs WHERE blobs.hash = changes.key) AS dhash
  FROM changes
  WHERE changes.id > ${after} AND changes.topic = 'image' AND changes.topic <> 'domain' AND changes.kind = 'stored'
  ORDER BY changes.id ${limit(count)}`

export const imageCount = (accountId: number) => sql<{ readonly images: number }>`
  SELECT images FROM image_totals WHERE account_id = ${accountId}`

/** The accounts with most images first. */
export const largestAccounts = (count: number) => sql<{ readonly account_id: number }>`
  SELECT account_id FROM image_totals WHERE images > 0 ORDER BY images DESC, account_id ${limit(count)}`

/** Images with one of these hashes, ordered by hash. */
export const imagesWith = (
  dialect: Dialect,
  accountId: number,
  dhashes: readonly string[],
  now: number,
  count: number,
) => sql<ImageRow>`
  SELECT ${IMAGE_COLUMNS} FROM image_dhashes AS near
  JOIN images ON images.account_id = near.account_id AND images.hash = near.hash
  JOIN blobs ON blobs.hash = images.hash
  WHERE near.account_id = ${accountId} AND ${isOneOf(dialect, sql`near.dhash`, dhashes)} AND ${notExpired(now)}
  ORDER BY near.dhash, near.hash ${limit(count)}`

/** The number of images with one of these hashes, except one image. Counts up to a limit. */
export const countWith = (
  dialect: Dialect,
  accountId: number,
  dhashes: readonly string[],
  exceptHash: string,
  now: number,
  max: number,
) => sql<{ readonly count: number }>`
  SELECT count(*) AS count FROM (
    SELECT 1 AS one FROM image_dhashes AS near
    JOIN images ON images.account_id = near.account_id AND images.hash = near.hash
    WHERE near.account_id = ${accountId} AND ${isOneOf(dialect, sql`near.dhash`, dhashes)} AND near.hash <> ${exceptHash}
      AND ${notExpired(now)} ${limit(max)}) AS found`
