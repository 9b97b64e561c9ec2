import type { Clock } from '../lib/clock.ts'
import type { Database, Transaction } from '../storage/database/database.ts'
import type { Dialect } from '../storage/database/dialect.ts'
import { isImageHash, type ImageHash } from './hash.ts'
import { bytesKey } from './lost.ts'
import * as queries from './queries.ts'
import * as quotas from './queries-quotas.ts'

/** Images removed, and addresses erased, in one transaction: others get their turn in between. */
const BATCH = 200
const ADDRESSES = 1_000
const DAY = 86_400

export const secondsOf = (clock: Clock): number => Math.floor(clock.now() / 1000)

/**
 * Takes an image away, with its bytes where no application holds them any more. Blobs are held before images are
 * touched, in this order everywhere: so of two who give up theirs at once the later one sees that nobody is left, and
 * neither waits for the other.
 * @param remove the statement that removes the record
 * @returns undefined where there was no such image, else the key whose bytes are to be removed, if there is one
 */
export async function takeAway(
  tx: Transaction,
  dialect: Dialect,
  hash: ImageHash,
  remove: ReturnType<typeof queries.deleteImage>,
): Promise<{ readonly unheldKey: string | undefined } | undefined> {
  const blob = await tx.first(queries.holdBlob(dialect, hash))
  if ((await tx.run(remove)) === 0) return undefined
  if (blob === undefined || (await tx.first(queries.anyHolder(hash))) !== undefined)
    return { unheldKey: undefined }
  await tx.run(queries.deleteBlob(hash))
  const key = bytesKey(blob.key)
  await tx.run(queries.addTrash(key))
  return { unheldKey: key }
}

/**
 * Removes some of what is over of an application, in the caller's transaction.
 * @returns keys whose bytes are to be removed; undefined when nothing is over
 */
export async function takeAwayOver(
  tx: Transaction,
  dialect: Dialect,
  accountId: number,
  now: number,
): Promise<string[] | undefined> {
  const over = await tx.all(quotas.overImagesOf(accountId, now, BATCH))
  if (over.length === 0) return undefined
  return removeEach(
    tx,
    dialect,
    over.map(({ hash }) => ({ account_id: accountId, hash })),
    now,
  )
}

export const hasOver = async (database: Database, clock: Clock): Promise<boolean> =>
  (await database.first(quotas.anyOver(secondsOf(clock)))) !== undefined

/**
 * Removes all images whose time is over. Nobody sees them any more by then: this makes room.
 * @param removed told of each key whose bytes are to be removed
 */
export async function sweepOver(
  database: Database,
  clock: Clock,
  removed: (key: string) => void,
  signal?: AbortSignal,
): Promise<void> {
  while (signal?.aborted !== true) {
    const { found, keys } = await database.transaction(
      async (tx) => {
        const now = secondsOf(clock)
        const over = await tx.all(quotas.overImages(now, BATCH))
        return { found: over.length, keys: await removeEach(tx, database.dialect, over, now) }
      },
      undefined,
      'free-space',
    )
    for (const key of keys) removed(key)
    if (found < BATCH) return
  }
}

async function removeEach(
  tx: Transaction,
  dialect: Dialect,
  over: readonly { readonly account_id: number; readonly hash: string }[],
  now: number,
): Promise<string[]> {
  const keys: string[] = []
  for (const { account_id, hash } of over) {
    if (!isImageHash(hash)) continue
    const taken = await takeAway(tx, dialect, hash, quotas.deleteOverImage(account_id, hash, now))
    if (taken?.unheldKey !== undefined) keys.push(taken.unheldKey)
  }
  return keys
}

const oldest = (clock: Clock, days: number): number => secondsOf(clock) - days * DAY

export const hasOldAddresses = async (database: Database, clock: Clock, days: number): Promise<boolean> =>
  (await database.first(quotas.anyAddress(oldest(clock, days)))) !== undefined

/** Erases the addresses of those who uploaded so many days ago. @returns how many */
export async function eraseAddresses(
  database: Database,
  clock: Clock,
  days: number,
  signal?: AbortSignal,
): Promise<number> {
  let erased = 0
  while (signal?.aborted !== true) {
    const count = await database.transaction((tx) =>
      tx.run(quotas.eraseAddresses(oldest(clock, days), ADDRESSES)),
    )
    erased += count
    if (count < ADDRESSES) break
  }
  return erased
}
