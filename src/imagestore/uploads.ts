import type { Transaction } from '../storage/database/database.ts'
import type { Identity } from '../http/auth/authenticator.ts'
import type { ImageHash } from './hash.ts'
import * as queries from './queries.ts'

/** Stands for everybody but the keys of scope `upload`. */
const APPLICATION = ''

/** The id of a key that sees and deletes only what it uploaded itself; undefined for the others, which see all images. */
export function uploaderOf({ keyId, scope }: Identity): string | undefined {
  return scope === 'upload' ? keyId : undefined
}

/** @param now seconds since 1970 */
export function isOver({ expires }: { readonly expires: number | null }, now: number): boolean {
  return expires !== null && expires <= now
}

/** An image of an application. Its blob is held by the transaction, so nobody else uploads or deletes it meanwhile. */
export interface HeldImage {
  readonly accountId: number
  readonly hash: ImageHash
}

/**
 * Who uploaded an image, before it is uploaded again at `now`, in seconds since 1970. One that has expired by then is
 * nobody's any more.
 */
export async function uploadersBefore(tx: Transaction, { accountId, hash }: HeldImage, now: number) {
  const image = await tx.first(queries.expiryOf(accountId, hash))
  if (image === undefined) return undefined
  if (isOver(image, now)) {
    await tx.run(queries.removeUploads(accountId, hash))
    return undefined
  }
  const rows = await tx.all(queries.uploadsOf(accountId, hash))
  const keys = rows.length === 0 ? [APPLICATION] : rows.map(({ key_id }) => key_id)
  return { keys, expires: image.expires }
}

export type Uploaders = Awaited<ReturnType<typeof uploadersBefore>>

/** When an image expires after another upload: a key that sees only its own must not shorten the life of what others hold. */
export function expiryAfter(before: Uploaders, uploader: string | undefined, given: number | null) {
  const isShared = before !== undefined && before.keys.some((key) => key !== uploader)
  if (uploader === undefined || !isShared) return given
  return given === null || before.expires === null ? null : Math.max(given, before.expires)
}

/** Notes an upload, once the image's row is there. An image that only the application uploaded needs no note. */
export async function noteUpload(
  tx: Transaction,
  { accountId, hash }: HeldImage,
  before: Uploaders,
  uploader: string | undefined,
): Promise<void> {
  const keys = new Set([...(before?.keys ?? []), uploader ?? APPLICATION])
  if (keys.size === 1 && keys.has(APPLICATION)) return
  for (const key of keys) await tx.run(queries.addUpload(accountId, hash, key))
}

/**
 * Withdraws what a key uploaded.
 * @returns whether the image is to be deleted (`last`), stays for others (`withdrawn`), or is none that the key sees
 */
export async function withdrawUpload(
  tx: Transaction,
  { accountId, hash }: HeldImage,
  uploader: string,
): Promise<'last' | 'withdrawn' | 'unknown'> {
  const keys = (await tx.all(queries.uploadsOf(accountId, hash))).map(({ key_id }) => key_id)
  if (!keys.includes(uploader)) return 'unknown'
  if (keys.length === 1) return 'last'
  await tx.run(queries.removeUpload(accountId, hash, uploader))
  // Other nodes keep answers to `get`.
  await tx.run(queries.touchImage(accountId, hash))
  return 'withdrawn'
}
