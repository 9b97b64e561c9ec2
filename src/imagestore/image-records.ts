import type { Identity } from '../http/auth/authenticator.ts'
import type { Transaction, Database } from '../storage/database/database.ts'
import { type ImageHash, isImageHash } from './image-fields.ts'
import * as queries from './queries.ts'
import { secondsOf, type Clock } from '../lib/clock.ts'
import type { Dialect } from '../storage/database/dialect.ts'
import { inBatches } from '../lib/concurrency.ts'
import { bytesKey } from './blobs.ts'

/** The uploader of images that keys without the scope `upload` stored. */
const APPLICATION = ''

/** The id of a key that sees and deletes only its own uploads; undefined for keys that see all images. */
export function uploaderOf({ keyId, scope }: Identity): string | undefined {
  return scope === 'upload' ? keyId : undefined
}

/** @param now seconds since 1970 */
export function isExpired({ expires }: { readonly expires: number | null }, now: number): boolean {
  return expires !== null && expires <= now
}

/** Whether an image is neither expired nor in the trash. @param now seconds since 1970 */
export function isCurrent(image: queries.Lifetime, now: number): boolean {
  return image.trashed_at === null && !isExpired(image, now)
}

/** An image whose blob the transaction has locked, so that nobody else uploads or deletes it. */
export interface LockedImage {
  readonly accountId: number
  readonly hash: ImageHash
}

export interface Uploaders {
  readonly keys: readonly string[]
  readonly expires: number | null
}

/**
 * Returns who uploaded an image before; undefined if nobody did, or if it has expired. The record of an expired image is removed.
 * @param now seconds since 1970
 */
export async function uploadersOf(
  tx: Transaction,
  { accountId, hash }: LockedImage,
  now: number,
): Promise<Uploaders | undefined> {
  const image = await tx.first(queries.findLifetime(accountId, hash))
  if (image === undefined) return undefined
  if (isExpired(image, now)) {
    await tx.run(queries.deleteExpiredImage(accountId, hash, now))
    return undefined
  }
  const rows = await tx.all(queries.findUploads(accountId, hash))
  const keys = rows.length === 0 ? [APPLICATION] : rows.map(({ key_id }) => key_id)
  return { keys, expires: image.expires }
}

/** Whether others hold an image that a limited key uploads or edits: it changes nothing of theirs. */
export const isOfOthers = ({ keys }: Uploaders, uploader: string | undefined): boolean =>
  uploader !== undefined && keys.some((key) => key !== uploader)

/** Lets an image that is uploaded again live as long as both uploads ask for, outside the trash. */
export async function prolongImage(
  tx: Transaction,
  { accountId, hash }: LockedImage,
  before: Uploaders,
  info: queries.ImageInfo,
): Promise<void> {
  const isEndless = info.expires === null || before.expires === null
  const expires = isEndless ? null : Math.max(info.expires, before.expires)
  await tx.run(queries.updateImage(accountId, hash, { expires, trashed_at: null }))
}

/** Records an upload, after the image's row is written. An image of the application alone needs no record. */
export async function recordUploader(
  tx: Transaction,
  { accountId, hash }: LockedImage,
  before: Uploaders | undefined,
  uploader: string | undefined,
): Promise<void> {
  const keys = new Set([...(before?.keys ?? []), uploader ?? APPLICATION])
  if (keys.size === 1 && keys.has(APPLICATION)) return
  for (const key of keys) await tx.run(queries.addUpload(accountId, hash, key))
}

/**
 * Withdraws the upload of a key.
 * @returns `last` if the image is to be deleted, `withdrawn` if others hold it, `unknown` if the key does not see it
 */
export async function withdrawUpload(
  tx: Transaction,
  { accountId, hash }: LockedImage,
  uploader: string,
): Promise<'last' | 'withdrawn' | 'unknown'> {
  const keys = (await tx.all(queries.findUploads(accountId, hash))).map(({ key_id }) => key_id)
  if (!keys.includes(uploader)) return 'unknown'
  if (keys.length === 1) return 'last'
  await tx.run(queries.removeUpload(accountId, hash, uploader))
  // Invalidates the cached answers of other nodes.
  await tx.run(queries.touchImage(accountId, hash))
  return 'withdrawn'
}

/** Images removed in one transaction. Other writers run between transactions. */
const EXPIRED_BATCH_IMAGES = 200
const ERASED_BATCH_ADDRESSES = 1_000

/**
 * Removes an application's record of an image, and the blob if no application holds it any more. Blobs are locked before
 * images everywhere: of two concurrent removals the later one sees that no holder is left, and they cannot deadlock.
 * @param remove the statement that removes the record
 * @returns false if there was no such image
 */
export async function removeRecord(
  tx: Transaction,
  dialect: Dialect,
  hash: ImageHash,
  remove: ReturnType<typeof queries.deleteImage>,
): Promise<boolean> {
  const blob = await tx.first(queries.lockBlob(dialect, hash))
  const removed = await tx.first(remove)
  if (removed === undefined) return false
  if (removed.kind !== 'deleted') await tx.run(queries.logRemoval(removed))
  if (blob === undefined || (await tx.first(queries.anyHolder(hash))) !== undefined) return true
  await tx.run(queries.deleteBlob(hash))
  await tx.run(queries.addRemoval(bytesKey(blob.key)))
  return true
}

/** Removes some expired images of an application, in the caller's transaction. Returns false if nothing has expired. */
export async function removeExpiredOf(
  tx: Transaction,
  dialect: Dialect,
  accountId: number,
  now: number,
): Promise<boolean> {
  const expired = await tx.all(queries.findExpiredImages(accountId, now, EXPIRED_BATCH_IMAGES))
  await removeEach(tx, dialect, expired, now)
  return expired.length > 0
}

export const hasExpiredImages = async (database: Database, clock: Clock): Promise<boolean> =>
  (await database.first(queries.expiredImages(secondsOf(clock), 1))) !== undefined

/** Removes all images that have expired, or were in the trash for long enough. They are in no answer any more: this frees space. */
export function sweepExpired(database: Database, clock: Clock, signal?: AbortSignal): Promise<number> {
  return inBatches(EXPIRED_BATCH_IMAGES, signal, () =>
    database.transaction(
      async (tx) => {
        const now = secondsOf(clock)
        const expired = await tx.all(queries.expiredImages(now, EXPIRED_BATCH_IMAGES))
        await removeEach(tx, database.dialect, expired, now)
        return expired.length
      },
      undefined,
      { purpose: 'free-space' },
    ),
  )
}

async function removeEach(
  tx: Transaction,
  dialect: Dialect,
  expired: readonly { readonly account_id: number; readonly hash: string }[],
  now: number,
): Promise<void> {
  for (const { account_id, hash } of expired)
    if (isImageHash(hash))
      await removeRecord(tx, dialect, hash, queries.deleteExpiredImage(account_id, hash, now))
}

/** Erases the addresses of uploaders of more than `ageMs` ago. Returns how many. */
export function eraseAddresses(
  database: Database,
  clock: Clock,
  ageMs: number,
  signal?: AbortSignal,
): Promise<number> {
  const before = Math.floor((clock.now() - ageMs) / 1_000)
  const erase = queries.eraseAddresses(before, ERASED_BATCH_ADDRESSES)
  return inBatches(ERASED_BATCH_ADDRESSES, signal, () => database.transaction((tx) => tx.run(erase)))
}
