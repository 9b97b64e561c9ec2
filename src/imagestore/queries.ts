import type { Dialect } from '../database/dialect.ts'
import { allOf, join, limit, sql, type Sql } from '../database/sql.ts'
import type { DeliveryMode } from './access/modes.ts'

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
}

export interface HolderRow {
  readonly mode: DeliveryMode
  readonly secret: string | null
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
  readonly date: number
}

export interface ImageInfo {
  readonly name: string
  readonly ip: string
}

/** The blob of `hash`, kept as it is until the transaction ends. */
export const holdBlob = (dialect: Dialect, hash: string) =>
  sql<BlobRow>`${blobByHash(hash)} ${dialect.forUpdate}`

export const blobByHash = (hash: string) => sql<BlobRow>`
  SELECT hash, key, format, mime, size, width, height, frames, dhash FROM blobs WHERE hash = ${hash}`

/** The same once for each application that holds it, with what that one has settled. */
export const blobWithHolders = (hash: string) => sql<BlobRow & HolderRow>`
  SELECT blobs.hash, key, format, mime, size, width, height, frames, dhash,
    coalesce(delivery.mode, 'open') AS mode, delivery.secret
  FROM blobs JOIN images ON images.hash = blobs.hash
  LEFT JOIN delivery ON delivery.account_id = images.account_id
  WHERE blobs.hash = ${hash}`

/** Whether some application holds both images. */
export const sharedHolder = (one: string, other: string) => sql<{ account_id: number }>`
  SELECT one.account_id FROM images AS one JOIN images AS other ON other.account_id = one.account_id
  WHERE one.hash = ${one} AND other.hash = ${other} LIMIT 1`

export const insertBlob = (blob: BlobRow) => sql`
  INSERT INTO blobs (hash, key, format, mime, size, width, height, frames, dhash)
  VALUES (${blob.hash}, ${blob.key}, ${blob.format}, ${blob.mime}, ${blob.size}, ${blob.width}, ${blob.height},
    ${blob.frames}, ${blob.dhash})`

/** Other bytes of the same content under the same hash. */
export const replaceBlob = (blob: BlobRow) => sql`
  UPDATE blobs SET key = ${blob.key}, format = ${blob.format}, mime = ${blob.mime}, size = ${blob.size},
    width = ${blob.width}, height = ${blob.height}, frames = ${blob.frames}, dhash = ${blob.dhash}
  WHERE hash = ${blob.hash}`

/** Changes a blob's key, unless it was changed in between. */
/** Changes nothing of the images that have these bytes, but tells of them as of a change. */
export const touchImages = (hash: string) => sql`UPDATE images SET date = date WHERE hash = ${hash}`

export const renameBlob = (hash: string, from: string, to: string) => sql`
  UPDATE blobs SET key = ${to} WHERE hash = ${hash} AND key = ${from}`

export const deleteBlob = (hash: string) => sql`DELETE FROM blobs WHERE hash = ${hash}`

export const upsertImage = (accountId: number, hash: string, info: ImageInfo, date: number) => sql`
  INSERT INTO images (account_id, hash, name, name_folded, ip, date)
  VALUES (${accountId}, ${hash}, ${info.name}, ${info.name.toLowerCase()}, ${info.ip}, ${date})
  ON CONFLICT (account_id, hash) DO UPDATE SET
    name = excluded.name, name_folded = excluded.name_folded, ip = excluded.ip, date = excluded.date`

export const deleteImage = (accountId: number, hash: string) => sql`
  DELETE FROM images WHERE account_id = ${accountId} AND hash = ${hash}`

export const anyHolder = (hash: string) => sql<{ account_id: number }>`
  SELECT account_id FROM images WHERE hash = ${hash} LIMIT 1`

export const imageOf = (accountId: number, hash: string) => sql<ImageRow>`
  SELECT images.name, images.hash, blobs.mime, blobs.width, blobs.height, blobs.size, blobs.dhash, images.date
  FROM images JOIN blobs ON blobs.hash = images.hash
  WHERE images.account_id = ${accountId} AND images.hash = ${hash}`

export interface ImagePage {
  readonly accountId: number
  /** Lower-cased part of the name. */
  readonly search?: string | undefined
  /** The last image of the page before. */
  readonly after?: { readonly date: number; readonly hash: string } | undefined
  readonly limit: number
}

/** An application's images, newest first. */
export function imagePage(dialect: Dialect, { accountId, search, after, limit: count }: ImagePage) {
  const conditions: Sql[] = [sql`images.account_id = ${accountId}`]
  if (search !== undefined) conditions.push(dialect.contains(sql`images.name_folded`, search))
  if (after !== undefined) conditions.push(sql`(images.date, images.hash) < (${after.date}, ${after.hash})`)
  return sql<ImageRow>`
    SELECT images.name, images.hash, blobs.mime, blobs.width, blobs.height, blobs.size, blobs.dhash, images.date
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
