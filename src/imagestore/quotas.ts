import { HttpError } from '../lib/errors.ts'
import { secondsOf, type Clock } from '../lib/clock.ts'
import { clientOf } from '../storage/database/connection-slots.ts'
import type { Database, Reader } from '../storage/database/database.ts'
import {
  hasImage,
  limitsOf,
  totalOf,
  usageAt,
  type Limits,
  type Total,
  type Usage,
} from './queries-accounts.ts'

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
  const { max_bytes = null, max_images = null } = locked ?? (await reader.first(limitsOf(accountId))) ?? {}
  if (max_bytes === null && max_images === null) return undefined
  if ((await reader.first(hasImage(accountId, hash))) !== undefined) return undefined
  const { images, bytes } = (await reader.first(totalOf(accountId))) ?? { images: 0, bytes: 0 }
  if (max_images !== null && images + 1 > max_images)
    return { kind: 'full', of: 'images', max: max_images, used: images }
  if (max_bytes !== null && bytes + size > max_bytes)
    return { kind: 'full', of: 'bytes', max: max_bytes, used: bytes }
  return undefined
}

export function quotaError({ of, max, used }: QuotaExceeded): HttpError {
  return of === 'images'
    ? new HttpError(403, `La aplicación ya tiene el máximo de ${max} imágenes`)
    : new HttpError(413, `La imagen no cabe: la aplicación ocupa ${used} de un máximo de ${max} bytes`)
}

const DAY_MS = 86_400_000

export interface Stats extends Total, Limits {
  /** Of all applications, on this machine. */
  readonly derivatives: DerivativeUsage
  readonly kinds: readonly ({ readonly mime: string } & Total)[]
  /** Newest first. */
  readonly days: readonly ({ readonly day: string } & Total)[]
}

export interface DerivativeUsage {
  readonly bytes: number
  readonly max_bytes: number
}

/** Usage of an application, with the last `days` days that have uploads. */
export type ImageStats = (accountId: number, days: number) => Promise<Stats>

export function createStats(
  database: Database,
  clock: Clock,
  derivatives: () => Promise<DerivativeUsage>,
): ImageStats {
  return async (accountId, days) => {
    const { max_images = null, max_bytes = null } =
      (await database.readerOf(clientOf(accountId)).first(limitsOf(accountId))) ?? {}
    // One row for each day and kind: some thousand after years, however many images there are.
    const usage = await database.scannerOf(accountId).all(usageAt(accountId, secondsOf(clock)))
    const kinds = sumBy(usage, ({ mime }) => mime)
    const byDay = sumBy(usage, ({ day }) => new Date(day * DAY_MS).toISOString().slice(0, 10))
    const newest = [...byDay].sort(([one], [other]) => (one < other ? 1 : -1)).slice(0, days)
    return {
      ...(sumBy(usage, () => '').get('') ?? { images: 0, bytes: 0 }),
      max_images,
      max_bytes,
      derivatives: await derivatives(),
      kinds: [...kinds]
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([mime, total]) => ({ mime, ...total })),
      days: newest.map(([day, total]) => ({ day, ...total })),
    }
  }
}

/** Totals by name, without those that are zero. */
function sumBy(usage: readonly Usage[], nameOf: (row: Usage) => string): Map<string, Total> {
  const sums = new Map<string, Total>()
  for (const row of usage) {
    const { images, bytes } = sums.get(nameOf(row)) ?? { images: 0, bytes: 0 }
    sums.set(nameOf(row), { images: images + row.images, bytes: bytes + row.bytes })
  }
  for (const [name, { images }] of sums) if (images === 0) sums.delete(name)
  return sums
}
