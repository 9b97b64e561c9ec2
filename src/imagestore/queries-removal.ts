import { join, limit, sql } from '../storage/database/sql.ts'

/** Expired images, in the order in which their blobs are locked. */
export const expiredImages = (now: number, count: number) => sql<{ account_id: number; hash: string }>`
  SELECT account_id, hash FROM images WHERE expires <= ${now} ORDER BY hash, account_id ${limit(count)}`

export const expiredImagesOf = (accountId: number, now: number, count: number) => sql<{ hash: string }>`
  SELECT hash FROM images WHERE expires <= ${now} AND account_id = ${accountId} ORDER BY hash ${limit(count)}`

/** Removes an image if it has expired: it may have been uploaded again since it was found. */
export const deleteExpiredImage = (accountId: number, hash: string, now: number) => sql`
  DELETE FROM images WHERE account_id = ${accountId} AND hash = ${hash} AND expires <= ${now}`

export const anyExpired = (now: number) => sql<{ hash: string }>`
  SELECT hash FROM images WHERE expires <= ${now} LIMIT 1`

/** Images with an uploader's address that were uploaded before a time, in seconds since 1970. */
export const anyAddress = (before: number) => sql<{ hash: string }>`
  SELECT hash FROM images WHERE ip <> '' AND date < ${before} LIMIT 1`

export const eraseAddresses = (before: number, count: number) => sql`
  UPDATE images SET ip = '' WHERE (account_id, hash) IN (
    SELECT account_id, hash FROM images WHERE ip <> '' AND date < ${before} ORDER BY date ${limit(count)})`

export const addTrash = (key: string) => sql`INSERT INTO blob_trash (key) VALUES (${key})`

export const trash = (count: number) => sql<{ key: string }>`SELECT key FROM blob_trash ${limit(count)}`

export const removeTrash = (key: string) => sql`DELETE FROM blob_trash WHERE key = ${key}`

export const trashedKeys = (keys: readonly string[]) => sql<{ key: string }>`
  SELECT key FROM blob_trash WHERE key IN (${join(keys)})`
