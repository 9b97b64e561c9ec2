import type { Identity } from '../http/auth/authenticator.ts'
import type { Transaction } from '../storage/database/database.ts'
import type { ImageHash } from './image-hash.ts'
import * as queries from './queries.ts'

/** Stands for all keys that see the whole application: those without the scope `upload`. */
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
