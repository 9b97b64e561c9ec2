import type { Reader } from '../storage/database/database.ts'
import type { Limits, Total } from './queries-quotas.ts'
import { hasImage, limitsOf, totalOf } from './queries-quotas.ts'

/** Which of an application's bounds an image would break. */
export interface Full {
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
 * Whether one more image breaks a bound. One that the application has already takes no more room.
 * @param limits as they are held where the decision has to last; else they are looked up
 */
export async function fullness(reader: Reader, image: NewImage, limits?: Limits): Promise<Full | undefined> {
  const bounds = limits ?? (await reader.first(limitsOf(image.accountId)))
  if (bounds === undefined || (bounds.max_bytes === null && bounds.max_images === null)) return undefined
  if ((await reader.first(hasImage(image.accountId, image.hash))) !== undefined) return undefined
  return broken(bounds, (await reader.first(totalOf(image.accountId))) ?? { images: 0, bytes: 0 }, image.size)
}

function broken({ max_bytes, max_images }: Limits, { images, bytes }: Total, size: number): Full | undefined {
  if (max_images !== null && images + 1 > max_images) {
    return { kind: 'full', of: 'images', max: max_images, used: images }
  }
  if (max_bytes !== null && bytes + size > max_bytes) {
    return { kind: 'full', of: 'bytes', max: max_bytes, used: bytes }
  }
  return undefined
}
