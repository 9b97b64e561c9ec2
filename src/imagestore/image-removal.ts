import { secondsOf, type Clock } from '../lib/clock.ts'
import type { Database, Transaction } from '../storage/database/database.ts'
import type { Dialect } from '../storage/database/dialect.ts'
import { inBatches } from '../lib/background-jobs.ts'
import { bytesKey } from './blobs.ts'
import { isImageHash, type ImageHash } from './image-hash.ts'
import * as queries from './queries.ts'

/** Images removed in one transaction. Other writers run between transactions. */
const EXPIRED_BATCH_IMAGES = 200
const ERASED_BATCH_ADDRESSES = 1_000

/**
 * Removes an application's record of an image, and the blob if no application holds it any more. Blobs are locked before
 * images everywhere: of two concurrent removals the later one sees that no holder is left, and they cannot deadlock.
 * @param remove the statement that removes the record
 * @returns undefined if there was no such image, else the blob key to remove from the store, if any
 */
export async function removeRecord(
  tx: Transaction,
  dialect: Dialect,
  hash: ImageHash,
  remove: ReturnType<typeof queries.deleteImage>,
): Promise<{ readonly unreferencedKey: string | undefined } | undefined> {
  const blob = await tx.first(queries.lockBlob(dialect, hash))
  const removed = await tx.first(remove)
  if (removed === undefined) return undefined
  if (removed.kind !== 'deleted') await tx.run(queries.logRemoval(removed))
  if (blob === undefined || (await tx.first(queries.anyHolder(hash))) !== undefined)
    return { unreferencedKey: undefined }
  await tx.run(queries.deleteBlob(hash))
  const key = bytesKey(blob.key)
  await tx.run(queries.addRemoval(key))
  return { unreferencedKey: key }
}

/**
 * Removes some expired images of an application, in the caller's transaction.
 * @returns blob keys to remove from the store; undefined if nothing has expired
 */
export async function removeExpiredOf(
  tx: Transaction,
  dialect: Dialect,
  accountId: number,
  now: number,
): Promise<string[] | undefined> {
  const expired = await tx.all(queries.findExpiredImages(accountId, now, EXPIRED_BATCH_IMAGES))
  if (expired.length === 0) return undefined
  const images = expired.map(({ hash }) => ({ account_id: accountId, hash }))
  return removeEach(tx, dialect, images, now)
}

export const hasExpiredImages = async (database: Database, clock: Clock): Promise<boolean> =>
  (await database.first(queries.anyExpired(secondsOf(clock)))) !== undefined

/**
 * Removes all images that have expired, or were in the trash for long enough. They are in no answer any more: this frees space.
 * @param onRemoved called with each blob key to remove from the store
 */
export async function sweepExpired(
  database: Database,
  clock: Clock,
  onRemoved: (key: string) => void,
  signal?: AbortSignal,
): Promise<void> {
  await inBatches(EXPIRED_BATCH_IMAGES, signal, async () => {
    const { found, keys } = await database.transaction(
      async (tx) => {
        const now = secondsOf(clock)
        const expired = await tx.all(queries.expiredImages(now, EXPIRED_BATCH_IMAGES))
        return { found: expired.length, keys: await removeEach(tx, database.dialect, expired, now) }
      },
      undefined,
      { purpose: 'free-space' },
    )
    for (const key of keys) onRemoved(key)
    return found
  })
}

async function removeEach(
  tx: Transaction,
  dialect: Dialect,
  expired: readonly { readonly account_id: number; readonly hash: string }[],
  now: number,
): Promise<string[]> {
  const keys: string[] = []
  for (const { account_id, hash } of expired) {
    if (!isImageHash(hash)) continue
    const removed = await removeRecord(tx, dialect, hash, queries.deleteExpiredImage(account_id, hash, now))
    if (removed?.unreferencedKey !== undefined) keys.push(removed.unreferencedKey)
  }
  return keys
}

const timeAgo = (clock: Clock, ageMs: number): number => Math.floor((clock.now() - ageMs) / 1_000)

export const hasOldAddresses = async (database: Database, clock: Clock, ageMs: number): Promise<boolean> =>
  (await database.first(queries.anyAddress(timeAgo(clock, ageMs)))) !== undefined

/** Erases the addresses of uploaders of more than `ageMs` ago. Returns how many. */
export const eraseAddresses = (
  database: Database,
  clock: Clock,
  ageMs: number,
  signal?: AbortSignal,
): Promise<number> =>
  inBatches(ERASED_BATCH_ADDRESSES, signal, () =>
    database.transaction((tx) =>
      tx.run(queries.eraseAddresses(timeAgo(clock, ageMs), ERASED_BATCH_ADDRESSES)),
    ),
  )
