import type { Clock } from '../lib/clock.ts'
import type { Database } from '../storage/database/database.ts'
import { secondsOf } from './lifetime.ts'
import { limitsOf, usageAt, type Total, type Usage } from './queries-quotas.ts'

const DAY_MS = 86_400_000

export interface Stats extends Total {
  readonly max_images: number | null
  readonly max_bytes: number | null
  /** Of all applications, on this machine. */
  readonly derivatives: DerivativeUse
  readonly kinds: readonly ({ readonly mime: string } & Total)[]
  /** Newest first. */
  readonly days: readonly ({ readonly day: string } & Total)[]
}

export interface DerivativeUse {
  readonly bytes: number
  readonly max_bytes: number
}

/** What an application holds, and how much of it came on the last so many days on which something came. */
export type ImageStats = (accountId: number, days: number) => Promise<Stats>

export function createStats(
  database: Database,
  clock: Clock,
  derivatives: () => Promise<DerivativeUse>,
): ImageStats {
  return async (accountId, days) => {
    const limits = await database.first(limitsOf(accountId))
    // Counts of each day and kind: some thousands after years, however many images there are.
    const usage = await database.scannerOf(accountId).all(usageAt(accountId, secondsOf(clock)))
    const kinds = summed(usage, ({ mime }) => mime)
    const byDay = summed(usage, ({ day }) => new Date(day * DAY_MS).toISOString().slice(0, 10))
    const newest = [...byDay].sort(([one], [other]) => (one < other ? 1 : -1)).slice(0, days)
    return {
      ...(summed(usage, () => '').get('') ?? { images: 0, bytes: 0 }),
      max_images: limits?.max_images ?? null,
      max_bytes: limits?.max_bytes ?? null,
      derivatives: await derivatives(),
      kinds: [...kinds]
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([mime, total]) => ({ mime, ...total })),
      days: newest.map(([day, total]) => ({ day, ...total })),
    }
  }
}

/** Sums by a name; what comes to nothing is left out. */
function summed(usage: readonly Usage[], nameOf: (row: Usage) => string): Map<string, Total> {
  const sums = new Map<string, Total>()
  for (const row of usage) {
    const { images, bytes } = sums.get(nameOf(row)) ?? { images: 0, bytes: 0 }
    sums.set(nameOf(row), { images: images + row.images, bytes: bytes + row.bytes })
  }
  for (const [name, { images }] of sums) if (images === 0) sums.delete(name)
  return sums
}
