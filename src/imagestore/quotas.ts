import type { HttpError } from '../lib/errors.ts'
import type { Reader } from '../storage/database/database.ts'
import { imageErrors } from './errors.ts'
import { findLifetime } from './queries.ts'
import { findLimits, findTotal, type Limits } from './queries-policy.ts'

/** The limit that one more image would exceed. */
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
  locked?: Limits,
): Promise<QuotaExceeded | undefined> {
  const { max_bytes = null, max_images = null } = locked ?? (await reader.first(findLimits(accountId))) ?? {}
  if (max_bytes === null && max_images === null) return undefined
  if ((await reader.first(findLifetime(accountId, hash))) !== undefined) return undefined
  const { images, bytes } = (await reader.first(findTotal(accountId))) ?? { images: 0, bytes: 0 }
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
