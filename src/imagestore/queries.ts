import type { ChangeSelection } from '../storage/database/changes/change-log.ts'
import { isOneOf, type Dialect } from '../storage/database/dialect.ts'
import { allOf, empty, join, limit, raw, sql, type Sql } from '../storage/database/sql.ts'
import type { Edits } from './edits.ts'
import { ANSWER_FIELDS, BLOB_FIELDS, columnOf, type BlobRow, type ImageRow } from './image-fields.ts'
import type { DeliveryMode } from './links/link.ts'

/** How long an image stays in the trash. */
export const TRASH_DAYS = 7
const TRASH_SECONDS = TRASH_DAYS * 86_400

/** Whether an image is to be removed: it has expired, or its time in the trash is over. */
const isDue = (now: number) => sql`(expires <= ${now} OR trashed_at <= ${now - TRASH_SECONDS})`

/** Images to be removed, in the order in which their blobs are locked. */
export const expiredImages = (now: number, count: number) => sql<{ account_id: number; hash: string }>`
  SELECT account_id, hash FROM images WHERE ${isDue(now)} ORDER BY hash, account_id ${limit(count)}`

export const findExpiredImages = (accountId: number, now: number, count: number) => sql<{
  account_id: number
  hash: string
}>`
  SELECT account_id, hash FROM images WHERE expires <= ${now} AND account_id = ${accountId} ORDER BY hash ${limit(count)}`

/** Removes an image if it is due: it may have been uploaded again since it was found. */
export const deleteExpiredImage = (accountId: number, hash: string, now: number) => sql<RemovedImage>`
  DELETE FROM images WHERE account_id = ${accountId} AND hash = ${hash} AND ${isDue(now)}
  RETURNING account_id, hash, CASE WHEN trashed_at IS NULL THEN 'expired' ELSE 'purged' END AS kind`

/** A removed image, and how the change log names its removal: what was in the trash is deleted already. */
export interface RemovedImage {
  readonly account_id: number
  readonly hash: string
  readonly kind: 'deleted' | 'expired' | 'purged'
}

/** Changes the kind of an image's newest change, which its removal in this transaction wrote. */
export const logRemoval = ({ account_id, hash, kind }: RemovedImage) => sql`
  UPDATE changes SET kind = ${kind} WHERE id = (
    SELECT id FROM changes WHERE topic = 'image' AND topic <> 'domain' AND account_id = ${account_id} AND key = ${hash}
    ORDER BY id DESC LIMIT 1)`

/** Erases addresses of uploads before a time, in seconds since 1970. */
export const eraseAddresses = (before: number, count: number) => sql`
  UPDATE images SET ip = '' WHERE (account_id, hash) IN (
    SELECT account_id, hash FROM images WHERE ip <> '' AND date < ${before} ORDER BY date ${limit(count)})`

export const addRemoval = (key: string) => sql`INSERT INTO blob_trash (key) VALUES (${key})`

/** Some of the keys to remove. Any, so that those that cannot be removed do not hold up the others. */
export const pendingRemovals = (count: number) =>
  sql<{ key: string }>`SELECT key FROM blob_trash ORDER BY random() ${limit(count)}`

export const countRemovals = () => sql<{ count: number }>`SELECT count(*) AS count FROM blob_trash`

export const endRemoval = (key: string) => sql`DELETE FROM blob_trash WHERE key = ${key}`

export const removalsAmong = (keys: readonly string[]) => sql<{ key: string }>`
  SELECT key FROM blob_trash WHERE key IN (${join(keys)})`

export interface HolderRow {
  readonly account_id: number
  /** Delivery mode of the application's record of the image, which may be private. */
  readonly mode: DeliveryMode
  readonly secret: string | null
  /** Expiry of the application's record of the image, in seconds since 1970; null for never. */
  readonly expires: number | null
  readonly focus: string | null
}

export interface ImageInfo {
  readonly name: string
  /** Empty if unknown. */
  readonly ip: string
  /** Seconds since 1970; null for never. */
  readonly expires: number | null
  readonly edits?: Edits
}

export interface ImageChanges extends Edits {
  readonly name?: string | undefined
  /** Seconds since 1970; null for never. */
  readonly expires?: number | null | undefined
  /** Seconds since 1970; null to take it out of the trash. */
  readonly trashed_at?: number | null | undefined
}

const BLOB_COLUMNS = raw(BLOB_FIELDS.map(columnOf).join(', '))
const IMAGE_COLUMNS = raw(ANSWER_FIELDS.list.map(columnOf).join(', '))

/** Images that have not expired at `now`, in seconds since 1970. */
const notExpired = (now: number) => sql`(images.expires IS NULL OR images.expires > ${now})`

/** Images that are neither expired nor in the trash. */
const isCurrent = (now: number) => sql`${notExpired(now)} AND images.trashed_at IS NULL`

export const isInTrash = (accountId: number, now: number) => sql`
  images.account_id = ${accountId} AND images.trashed_at IS NOT NULL AND ${notExpired(now)}`

export const lockBlob = (dialect: Dialect, hash: string) =>
  sql<BlobRow>`${blobByHash(hash)} ${dialect.forUpdate}`

export const blobByHash = (hash: string) => sql<BlobRow>`
  SELECT ${BLOB_COLUMNS} FROM blobs WHERE hash = ${hash}`

/** A blob once for each application that holds it, not in its trash, with the delivery settings of that one. */
export const blobWithHolders = (hash: string) => sql<BlobRow & HolderRow>`
  SELECT ${BLOB_COLUMNS}, images.account_id, images.expires, images.focus, delivery.secret,
    CASE images.public WHEN 0 THEN 'signed' ELSE coalesce(delivery.mode, 'open') END AS mode
  FROM blobs JOIN images ON images.hash = blobs.hash
  LEFT JOIN delivery ON delivery.account_id = images.account_id
  WHERE blobs.hash = ${hash} AND images.trashed_at IS NULL ORDER BY images.account_id`

export const insertBlob = (blob: BlobRow) => sql`
  INSERT INTO blobs (${raw(BLOB_FIELDS.join(', '))}) VALUES (${join(BLOB_FIELDS.map((field) => blob[field]))})`

/** Replaces the blob of a hash whose bytes were lost. */
export const replaceBlob = (blob: BlobRow) => sql`
  UPDATE blobs SET ${join(
    BLOB_FIELDS.filter((field) => field !== 'hash').map((field) => sql`${raw(field)} = ${blob[field]}`),
  )} WHERE hash = ${blob.hash}`

/** Announces a change of all images with these bytes without changing them. */
export const touchImages = (hash: string) => sql`UPDATE images SET date = date WHERE hash = ${hash}`

/** Changes a blob's key, unless it has changed in between. */
export const renameBlob = (hash: string, from: string, to: string) => sql`
  UPDATE blobs SET key = ${to} WHERE hash = ${hash} AND key = ${from}`

export const deleteBlob = (hash: string) => sql`DELETE FROM blobs WHERE hash = ${hash}`

/** Stores an image. One that exists keeps the edits that are not given, and leaves the trash. */
export function upsertImage(accountId: number, hash: string, info: ImageInfo, date: number) {
  const { name, ip, expires, edits = {} } = info
  const values = { name, name_folded: name.toLowerCase(), ip, date, expires, trashed_at: null, ...edits }
  const columns = Object.entries(values).filter(([, value]) => value !== undefined)
  const names = columns.map(([column]) => column)
  return sql`
    INSERT INTO images (account_id, hash, ${raw(names.join(', '))})
    VALUES (${accountId}, ${hash}, ${join(columns.map(([, value]) => value))})
    ON CONFLICT (account_id, hash) DO UPDATE SET ${raw(names.map((column) => `${column} = excluded.${column}`).join(', '))}`
}

/** Changes what is given of an image: at least one value. */
export function updateImage(accountId: number, hash: string, changes: ImageChanges) {
  const values = { ...changes, name_folded: changes.name?.toLowerCase() }
  const given = Object.entries(values).filter(([, value]) => value !== undefined)
  const assignments = given.map(([column, value]) => sql`${raw(column)} = ${value}`)
  return sql`UPDATE images SET ${join(assignments)} WHERE account_id = ${accountId} AND hash = ${hash}`
}

/** Removes an image that has not expired, from the trash too. */
export const deleteImage = (accountId: number, hash: string, now: number) => sql<RemovedImage>`
  DELETE FROM images WHERE account_id = ${accountId} AND hash = ${hash} AND ${notExpired(now)}
  RETURNING account_id, hash, CASE WHEN trashed_at IS NULL THEN 'deleted' ELSE 'purged' END AS kind`

export const anyHolder = (hash: string) => sql<{ account_id: number }>`
  SELECT account_id FROM images WHERE hash = ${hash} LIMIT 1`

/** What decides whether an image is shown. Times in seconds since 1970, null for never. */
export interface Lifetime {
  readonly expires: number | null
  readonly trashed_at: number | null
}

/**
 * An application's record of an image, whether it is shown or not.
 * @param uploader only if the key of this id uploaded it
 */
export const findImage = (accountId: number, hash: string, uploader?: string) => sql<ImageRow & Lifetime>`
  SELECT ${IMAGE_COLUMNS}, images.trashed_at FROM images JOIN blobs ON blobs.hash = images.hash
  WHERE images.account_id = ${accountId} AND images.hash = ${hash}
  ${uploader === undefined ? empty : sql`AND EXISTS (${uploadBy(accountId, hash, uploader)})`}`

const uploadBy = (accountId: number, hash: string, keyId: string) => sql`
  SELECT 1 FROM image_uploads WHERE account_id = ${accountId} AND hash = ${hash} AND key_id = ${keyId}`

/** Selects the lifetime of an application's record of an image, whether it is shown or not. */
export const findLifetime = (accountId: number, hash: string) => sql<Lifetime>`
  SELECT expires, trashed_at FROM images WHERE account_id = ${accountId} AND hash = ${hash}`

export const findUploads = (accountId: number, hash: string) => sql<{ key_id: string }>`
  SELECT key_id FROM image_uploads WHERE account_id = ${accountId} AND hash = ${hash}`

export const addUpload = (accountId: number, hash: string, keyId: string) => sql`
  INSERT INTO image_uploads (account_id, hash, key_id) VALUES (${accountId}, ${hash}, ${keyId})
  ON CONFLICT (account_id, hash, key_id) DO NOTHING`

export const removeUpload = (accountId: number, hash: string, keyId: string) => sql`
  DELETE FROM image_uploads WHERE account_id = ${accountId} AND hash = ${hash} AND key_id = ${keyId}`

/** Announces a change of an application's image without changing it. */
export const touchImage = (accountId: number, hash: string) => sql`
  UPDATE images SET date = date WHERE account_id = ${accountId} AND hash = ${hash}`

/** The images that a list contains. */
export interface ImageSelection {
  readonly accountId: number
  /** Seconds since 1970. Images that have expired by then are left out. */
  readonly now: number
  /** Lower-cased part of the name. */
  readonly search?: string | undefined
  readonly tag?: string | undefined
  readonly mime?: string | undefined
  /** Seconds since 1970, both included. */
  readonly from?: number | undefined
  readonly to?: number | undefined
  /** Only images in the trash, which are left out otherwise. */
  readonly trash?: boolean | undefined
  /** Only the newest of images with the same dhash, with the number of the others. */
  readonly grouped?: boolean | undefined
}

/** Characters of a name that decide its place in a list. An index contains the same expression. */
export const SORTED_CHARACTERS = 100

/** What lists are sorted by; equal ones by hash. Each has an index. */
const SORT_KEYS = {
  date: raw('images.date'),
  name: raw(`substr(images.name_folded, 1, ${SORTED_CHARACTERS})`),
  size: raw('images.bytes'),
}
export type ImageOrder = keyof typeof SORT_KEYS

interface ImagePage extends ImageSelection {
  readonly order?: ImageOrder
  readonly ascending?: boolean
  /** The last image of the page before, with what it is sorted by. */
  readonly after?: { readonly key: number | string; readonly hash: string } | undefined
  readonly limit: number
}

/** The application's other images with the dhash of the current row. CROSS JOIN fixes the join order in SQLite. */
const others = (now: number) => sql`
  FROM image_dhashes AS same CROSS JOIN images AS other
  WHERE other.account_id = same.account_id AND other.hash = same.hash AND same.account_id = images.account_id AND same.dhash = blobs.dhash AND same.hash <> images.hash
    AND (other.expires IS NULL OR other.expires > ${now}) AND other.trashed_at IS NULL`

function isSelected(dialect: Dialect, selection: ImageSelection): Sql[] {
  const { accountId, now, search, tag, mime, from, to, trash = false, grouped = false } = selection
  const conditions: Sql[] = trash
    ? [isInTrash(accountId, now)]
    : [sql`images.account_id = ${accountId}`, isCurrent(now)]
  if (search !== undefined) conditions.push(dialect.contains(sql`images.name_folded`, search))
  if (tag !== undefined) {
    const tagged = sql`SELECT hash FROM image_tags WHERE account_id = ${accountId} AND tag = ${tag}`
    conditions.push(sql`images.hash IN (${tagged})`)
  }
  if (mime !== undefined) conditions.push(sql`blobs.mime = ${mime}`)
  if (from !== undefined) conditions.push(sql`images.date >= ${from}`)
  if (to !== undefined) conditions.push(sql`images.date <= ${to}`)
  if (grouped) {
    conditions.push(
      sql`NOT EXISTS (SELECT 1 ${others(now)} AND (other.date, other.hash) > (images.date, images.hash))`,
    )
  }
  return conditions
}

/** A page of an application's images, by default the newest first. */
export function imagePage(dialect: Dialect, page: ImagePage) {
  const { now, order = 'date', ascending = false, after, grouped = false, limit: count } = page
  const key = SORT_KEYS[order]
  const [comparison, direction] = ascending ? [raw('>'), raw('ASC')] : [raw('<'), raw('DESC')]
  const conditions = isSelected(dialect, page)
  if (after !== undefined) {
    // The first condition is for SQLite, which finds no pair with an expression in an index.
    conditions.push(sql`${key} ${comparison}= ${after.key}`)
    conditions.push(sql`(${key}, images.hash) ${comparison} (${after.key}, ${after.hash})`)
  }
  const duplicates = grouped ? sql`, (SELECT count(*) ${others(now)}) AS duplicates` : empty
  return sql<ImageRow & Lifetime & { readonly sort_key: number | string; readonly duplicates?: number }>`
    SELECT ${IMAGE_COLUMNS}, images.trashed_at, ${key} AS sort_key ${duplicates}
    FROM images JOIN blobs ON blobs.hash = images.hash
    WHERE ${allOf(conditions)}
    ORDER BY ${key} ${direction}, images.hash ${direction} ${limit(count)}`
}

export const selectedCount = (dialect: Dialect, selection: ImageSelection) => sql<{ readonly count: number }>`
  SELECT count(*) AS count FROM images JOIN blobs ON blobs.hash = images.hash
  WHERE ${allOf(isSelected(dialect, selection))}`

/** The number of an application's current images. The plus makes SQLite use the index of expiries. */
export const currentCount = (accountId: number, now: number) => sql<{ readonly count: number }>`
  SELECT coalesce((SELECT images FROM image_totals WHERE account_id = ${accountId}), 0)
    - (SELECT count(*) FROM images WHERE +account_id = ${accountId} AND expires <= ${now})
    - (SELECT count(*) FROM images WHERE ${isInTrash(accountId, now)}) AS count`

/** Which of these keys blobs have. @param keys at least one, at most as many as a statement permits parameters */
export const heldKeys = (keys: readonly string[]) =>
  sql<{ key: string }>`SELECT key FROM blobs WHERE key IN (${join(keys)})`

export const someBlobs = (count: number) =>
  sql<{ key: string }>`SELECT key FROM blobs ORDER BY hash ${limit(count)}`

/** The id of this database. */
export const instance = () => sql<{ id: string }>`SELECT id FROM instance`

export const blobsBetween = (after: string, before: string, count: number) => sql<
  Pick<BlobRow, 'hash' | 'key' | 'size'>
>`
  SELECT hash, key, size FROM blobs WHERE hash > ${after} AND hash < ${before} ORDER BY hash ${limit(count)}`

/** Distinct hashes of an application's images after one, concatenated: a row for each would take ten times as long. */
export const hashesAfter = (accountId: number, after: string, count: number) => sql<{
  readonly packed: string | null
  readonly last: string | null
  readonly count: number
}>`
  SELECT string_agg(dhash, '') AS packed, max(dhash) AS last, count(*) AS count FROM (
    SELECT DISTINCT dhash FROM image_dhashes WHERE account_id = ${accountId} AND dhash > ${after}
    ORDER BY dhash ${limit(count)}) AS page`

/**
 * Stored images as `[account, dhash]`. Those without an author or a blob are left out. The topic is compared twice to make SQLite use
 * the right index.
 */
export const storedImages: ChangeSelection = {
  where: sql`AND topic = 'image' AND topic <> 'domain' AND kind = 'stored'`,
  json: sql`'[' || account_id || ',"' || (SELECT blobs.dhash FROM blobs WHERE blobs.hash = changes.key) || '"]'`,
}

export const imageCount = (accountId: number) => sql<{ readonly images: number }>`
  SELECT images FROM image_totals WHERE account_id = ${accountId}`

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
  WHERE near.account_id = ${accountId} AND ${isOneOf(dialect, sql`near.dhash`, dhashes)} AND ${isCurrent(now)}
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
      AND ${isCurrent(now)} ${limit(max)}) AS found`
