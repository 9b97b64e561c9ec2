import type { Dialect } from '../storage/database/dialect.ts'
import { allOf, empty, join, limit, raw, sql, type Sql } from '../storage/database/sql.ts'
import type { DeliveryMode } from './links/access/modes.ts'

/** The bytes that one or more applications hold, and what decoding them told. */
export interface BlobRow {
  readonly hash: string
  readonly key: string
  readonly format: string
  readonly mime: string
  readonly size: number
  readonly width: number
  readonly height: number
  readonly frames: number
  readonly dhash: string
  /** Base64 of the ThumbHash; null for what was stored before there was one. */
  readonly thumbhash: string | null
}

export interface HolderRow {
  readonly mode: DeliveryMode
  readonly secret: string | null
  /** Of its own record of the image: seconds since 1970, null for never. */
  readonly expires: number | null
}

/** An application's own record of an image. */
export interface ImageRow {
  readonly name: string
  readonly hash: string
  readonly mime: string
  readonly width: number
  readonly height: number
  readonly size: number
  readonly dhash: string
  readonly thumbhash: string | null
  readonly date: number
  /** Seconds since 1970 from which on it is gone; null for never. */
  readonly expires: number | null
}

export interface ImageInfo {
  readonly name: string
  /** Empty where nobody knows it. */
  readonly ip: string
  /** Seconds since 1970; null for never. */
  readonly expires: number | null
}

/** Images that are not over at `now`, seconds since 1970. */
export const alive = (now: number) => sql`(images.expires IS NULL OR images.expires > ${now})`

/** The blob of `hash`, kept as it is until the transaction ends. */
export const holdBlob = (dialect: Dialect, hash: string) =>
  sql<BlobRow>`${blobByHash(hash)} ${dialect.forUpdate}`

export const blobByHash = (hash: string) => sql<BlobRow>`
  SELECT hash, key, format, mime, size, width, height, frames, dhash, thumbhash FROM blobs WHERE hash = ${hash}`

/** A blob once for each application that holds it, with what that one has settled. */
export const blobWithHolders = (hash: string) => sql<BlobRow & HolderRow>`
  SELECT blobs.hash, key, format, mime, size, width, height, frames, dhash, thumbhash, images.expires,
    coalesce(delivery.mode, 'open') AS mode, delivery.secret
  FROM blobs JOIN images ON images.hash = blobs.hash
  LEFT JOIN delivery ON delivery.account_id = images.account_id
  WHERE blobs.hash = ${hash}`

/** Whether some application holds both images. */
export const sharedHolder = (one: string, other: string) => sql<{ account_id: number }>`
  SELECT one.account_id FROM images AS one JOIN images AS other ON other.account_id = one.account_id
  WHERE one.hash = ${one} AND other.hash = ${other} LIMIT 1`

export const insertBlob = (blob: BlobRow) => sql`
  INSERT INTO blobs (hash, key, format, mime, size, width, height, frames, dhash, thumbhash)
  VALUES (${blob.hash}, ${blob.key}, ${blob.format}, ${blob.mime}, ${blob.size}, ${blob.width}, ${blob.height},
    ${blob.frames}, ${blob.dhash}, ${blob.thumbhash})`

/** Other bytes of the same content under the same hash. */
export const replaceBlob = (blob: BlobRow) => sql`
  UPDATE blobs SET key = ${blob.key}, format = ${blob.format}, mime = ${blob.mime}, size = ${blob.size},
    width = ${blob.width}, height = ${blob.height}, frames = ${blob.frames}, dhash = ${blob.dhash}, thumbhash = ${blob.thumbhash}
  WHERE hash = ${blob.hash}`

/** Changes a blob's key, unless it was changed in between. */
/** Changes nothing of the images that have these bytes, but tells of them as of a change. */
export const touchImages = (hash: string) => sql`UPDATE images SET date = date WHERE hash = ${hash}`

export const renameBlob = (hash: string, from: string, to: string) => sql`
  UPDATE blobs SET key = ${to} WHERE hash = ${hash} AND key = ${from}`

export const deleteBlob = (hash: string) => sql`DELETE FROM blobs WHERE hash = ${hash}`

export const upsertImage = (accountId: number, hash: string, info: ImageInfo, date: number) => sql`
  INSERT INTO images (account_id, hash, name, name_folded, ip, date, expires)
  VALUES (${accountId}, ${hash}, ${info.name}, ${info.name.toLowerCase()}, ${info.ip}, ${date}, ${info.expires})
  ON CONFLICT (account_id, hash) DO UPDATE SET
    name = excluded.name, name_folded = excluded.name_folded, ip = excluded.ip, date = excluded.date,
    expires = excluded.expires`

/** Removes an image that is not over. */
export const deleteImage = (accountId: number, hash: string, now: number) => sql`
  DELETE FROM images WHERE account_id = ${accountId} AND hash = ${hash} AND ${alive(now)}`

export const anyHolder = (hash: string) => sql<{ account_id: number }>`
  SELECT account_id FROM images WHERE hash = ${hash} LIMIT 1`

export const IMAGE_COLUMNS =
  raw(`images.name, images.hash, blobs.mime, blobs.width, blobs.height, blobs.size, blobs.dhash,
    blobs.thumbhash, images.date, images.expires`)

/**
 * What an application knows of one of its images, whether it is over or not.
 * @param uploader only if the key of this id uploaded it
 */
export const imageOf = (accountId: number, hash: string, uploader?: string) => sql<ImageRow>`
  SELECT ${IMAGE_COLUMNS} FROM images JOIN blobs ON blobs.hash = images.hash
  WHERE images.account_id = ${accountId} AND images.hash = ${hash}
  ${uploader === undefined ? empty : sql`AND EXISTS (${uploadBy(accountId, hash, uploader)})`}`

const uploadBy = (accountId: number, hash: string, keyId: string) => sql`
  SELECT 1 FROM image_uploads WHERE account_id = ${accountId} AND hash = ${hash} AND key_id = ${keyId}`

export const expiryOf = (accountId: number, hash: string) => sql<{ expires: number | null }>`
  SELECT expires FROM images WHERE account_id = ${accountId} AND hash = ${hash}`

export const uploadsOf = (accountId: number, hash: string) => sql<{ key_id: string }>`
  SELECT key_id FROM image_uploads WHERE account_id = ${accountId} AND hash = ${hash}`

export const addUpload = (accountId: number, hash: string, keyId: string) => sql`
  INSERT INTO image_uploads (account_id, hash, key_id) VALUES (${accountId}, ${hash}, ${keyId})
  ON CONFLICT (account_id, hash, key_id) DO NOTHING`

export const removeUpload = (accountId: number, hash: string, keyId: string) => sql`
  DELETE FROM image_uploads WHERE account_id = ${accountId} AND hash = ${hash} AND key_id = ${keyId}`

export const removeUploads = (accountId: number, hash: string) => sql`
  DELETE FROM image_uploads WHERE account_id = ${accountId} AND hash = ${hash}`

/** Changes nothing of an application's image, but announces a change of it. */
export const touchImage = (accountId: number, hash: string) => sql`
  UPDATE images SET date = date WHERE account_id = ${accountId} AND hash = ${hash}`

export interface ImagePage {
  readonly accountId: number
  /** Seconds since 1970: what is over by then is left out. */
  readonly now: number
  /** Lower-cased part of the name. */
  readonly search?: string | undefined
  /** The last image of the page before. */
  readonly after?: { readonly date: number; readonly hash: string } | undefined
  /** Of the images of the same picture only the newest, with the number of the others. */
  readonly grouped?: boolean
  readonly limit: number
}

/** The application's other images with the dhash of the row at hand. SQLite keeps to the order of a CROSS JOIN. */
const others = (now: number) => sql`
  FROM image_dhashes AS same CROSS JOIN images AS other
  WHERE other.account_id = same.account_id AND other.hash = same.hash AND same.account_id = images.account_id AND same.dhash = blobs.dhash AND same.hash <> images.hash
    AND (other.expires IS NULL OR other.expires > ${now})`

/** An application's images, newest first. */
export function imagePage(dialect: Dialect, page: ImagePage) {
  const { accountId, now, search, after, grouped = false, limit: count } = page
  const conditions: Sql[] = [sql`images.account_id = ${accountId}`, alive(now)]
  if (search !== undefined) conditions.push(dialect.contains(sql`images.name_folded`, search))
  if (after !== undefined) conditions.push(sql`(images.date, images.hash) < (${after.date}, ${after.hash})`)
  if (grouped) {
    conditions.push(
      sql`NOT EXISTS (SELECT 1 ${others(now)} AND (other.date, other.hash) > (images.date, images.hash))`,
    )
  }
  const duplicates = grouped ? sql`, (SELECT count(*) ${others(now)}) AS duplicates` : empty
  return sql<ImageRow & { readonly duplicates?: number }>`
    SELECT ${IMAGE_COLUMNS} ${duplicates}
    FROM images JOIN blobs ON blobs.hash = images.hash
    WHERE ${allOf(conditions)}
    ORDER BY images.date DESC, images.hash DESC ${limit(count)}`
}

export const addTrash = (key: string) => sql`INSERT INTO blob_trash (key) VALUES (${key})`

export const trash = (count: number) => sql<{ key: string }>`SELECT key FROM blob_trash ${limit(count)}`

export const removeTrash = (key: string) => sql`DELETE FROM blob_trash WHERE key = ${key}`

/** Which of these keys (some hundreds at most, and at least one) blobs still have. */
export const heldKeys = (keys: readonly string[]) =>
  sql<{ key: string }>`SELECT key FROM blobs WHERE key IN (${join([...keys])})`

export const blobByKey = (key: string) => sql<{ key: string }>`SELECT key FROM blobs WHERE key = ${key}`

export const keysOfBlobs = (keys: readonly string[]) => sql<{ key: string }>`
  SELECT key FROM blobs WHERE key IN (${join(keys)})`

export const keysOfTrash = (keys: readonly string[]) => sql<{ key: string }>`
  SELECT key FROM blob_trash WHERE key IN (${join(keys)})`

export const someBlobs = (count: number) =>
  sql<{ key: string }>`SELECT key FROM blobs ORDER BY hash ${limit(count)}`

/** What tells this database from every other. */
export const instance = () => sql<{ id: string }>`SELECT id FROM instance`
