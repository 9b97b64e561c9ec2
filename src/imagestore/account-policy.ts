import type { HttpError } from '../lib/errors.ts'
import type { Reader, Database, Transaction } from '../storage/database/database.ts'
import { distanceBetween, isFlatHash, parseHash64 } from '../lib/perceptual-hash/index.ts'
import { imageErrors } from './errors.ts'
import { findLifetime } from './queries.ts'
import * as queries from './queries-settings.ts'
import { DELIVERY_MODES, newLinkSecret, type DeliveryMode } from './links/link.ts'

/** What the operator sets for an application. */
export interface AccountPolicy extends queries.Limits {
  readonly delivery: DeliveryMode
}

export interface AccountPolicies {
  readonly modes: readonly DeliveryMode[]
  /** By account name. */
  readonly all: () => Promise<ReadonlyMap<string, AccountPolicy>>
  /**
   * Changes the given properties, in one transaction. It applies to uploads and links from the commit on.
   * @returns undefined if the account cannot hold images
   */
  readonly change: (
    account: { readonly id: number; readonly name: string },
    change: Partial<AccountPolicy>,
  ) => Promise<AccountPolicy | undefined>
}

const NO_LIMITS: queries.Limits = { max_images: null, max_bytes: null }

export function createAccountPolicies(database: Database): AccountPolicies {
  return {
    modes: DELIVERY_MODES,
    async all() {
      const rows = await listDelivery(database)
      return new Map(
        rows.map(({ account, mode: delivery, max_images, max_bytes }) => [
          account,
          { max_images, max_bytes, delivery },
        ]),
      )
    },
    change: ({ id, name }, { delivery, ...limits }) =>
      database.transaction(async (tx) => {
        // In mode `signed` the application needs a secret to sign with.
        const secret = delivery === 'signed' ? 'kept' : undefined
        const updated = await updateDeliveryIn(tx, name, { mode: delivery, secret })
        if (updated.kind !== 'updated') return undefined
        const before = await tx.first(queries.lockLimits(database.dialect, id))
        const { max_images, max_bytes } = { ...NO_LIMITS, ...before, ...limits }
        if (Object.keys(limits).length > 0) await tx.run(queries.setLimits(id, { max_images, max_bytes }))
        return { max_images, max_bytes, delivery: updated.mode }
      }),
  }
}

export type DeliveryOutcome =
  | { readonly kind: 'updated'; readonly mode: DeliveryMode; readonly secret: string | null }
  | { readonly kind: 'unknown' }
  /** The account belongs to the other service. */
  | { readonly kind: 'no-images' }

export interface DeliveryChange {
  /** Unchanged if undefined. */
  readonly mode?: DeliveryMode | undefined
  /** `new` revokes all earlier signatures; `kept` creates a secret only if there is none. */
  readonly secret?: 'new' | 'kept' | undefined
}

/** Changes which links an application allows. It applies to links from the commit on. */
export const updateDelivery = (
  database: Database,
  account: string,
  change: DeliveryChange,
): Promise<DeliveryOutcome> => database.transaction((tx) => updateDeliveryIn(tx, account, change))

async function updateDeliveryIn(
  tx: Transaction,
  account: string,
  change: DeliveryChange,
): Promise<DeliveryOutcome> {
  const row = await tx.first(queries.findDelivery(account))
  if (row === undefined) return { kind: 'unknown' }
  if (row.service !== 'imagestore') return { kind: 'no-images' }
  const mode = change.mode ?? row.mode ?? 'open'
  const isNew = change.secret === 'new' || (change.secret === 'kept' && row.secret === null)
  const secret = isNew ? newLinkSecret() : row.secret
  if (mode !== (row.mode ?? 'open') || secret !== row.secret)
    await tx.run(queries.setDelivery(row.account_id, mode, secret))
  return { kind: 'updated', mode, secret }
}

/** Lists the applications with their links and limits, by name. */
export const listDelivery = async (database: Database) =>
  (await database.all(queries.allDelivery())).map(({ name, mode, secret, ...limits }) => ({
    ...limits,
    account: name,
    mode: mode ?? 'open',
    hasSecret: secret !== null,
  }))

export interface QuotaExceeded {
  readonly kind: 'full'
  readonly of: 'images' | 'bytes'
  readonly max: number
  readonly used: number
}

export interface NewImage {
  readonly accountId: number
  readonly hash: string
  /** Bytes. */
  readonly size: number
}

/**
 * Returns the limit that one more image would exceed, if any. An image that the application holds already needs no
 * further space.
 * @param locked limits that the caller has locked; without them they are read
 */
export async function checkQuota(
  reader: Reader,
  { accountId, hash, size }: NewImage,
  locked?: queries.Limits,
): Promise<QuotaExceeded | undefined> {
  const { max_bytes = null, max_images = null } =
    locked ?? (await reader.first(queries.findLimits(accountId))) ?? {}
  if (max_bytes === null && max_images === null) return undefined
  if ((await reader.first(findLifetime(accountId, hash))) !== undefined) return undefined
  const { images, bytes } = (await reader.first(queries.findTotal(accountId))) ?? { images: 0, bytes: 0 }
  if (max_images !== null && images + 1 > max_images)
    return { kind: 'full', of: 'images', max: max_images, used: images }
  if (max_bytes !== null && bytes + size > max_bytes)
    return { kind: 'full', of: 'bytes', max: max_bytes, used: bytes }
  return undefined
}

/** @param seesAll whether the key sees all images of the application, and so how many there are */
export function quotaError({ of, max, used }: QuotaExceeded, seesAll: boolean): HttpError {
  if (of === 'images') return imageErrors.quota_images(seesAll ? `${max} ` : '')
  return imageErrors.quota_bytes(
    seesAll ? `: la aplicación ocupa ${used} de un máximo de ${max} bytes` : ' en la aplicación',
  )
}

/** Whether a picture is refused. Pictures without contrast all have one dhash, so only their bytes are compared. */
export function isBanned(bans: readonly queries.Ban[], hash: string, dhash: string | undefined): boolean {
  const wanted = dhash === undefined || isFlatHash(dhash) ? undefined : parseHash64(dhash)
  return bans.some((ban) => {
    if (ban.hash === hash) return true
    if (ban.dhash === null || wanted === undefined) return false
    return distanceBetween(parseHash64(ban.dhash), wanted) <= ban.distance
  })
}
