export const DAYS = 90
const DAY_MS = 86_400_000

export interface Day {
  /** `2026-01-12`, in UTC as the service counts. */
  readonly day: string
  readonly images: number
  readonly bytes: number
}

/**
 * Returns the last days, oldest first, including those without uploads.
 * @param known days with uploads
 * @param now milliseconds since 1970
 */
export function lastDays(known: readonly Day[], now: number): Day[] {
  const found = new Map(known.map((one) => [one.day, one]))
  return Array.from({ length: DAYS }, (_, i) => {
    const day = new Date(now - (DAYS - 1 - i) * DAY_MS).toISOString().slice(0, 10)
    return found.get(day) ?? { day, images: 0, bytes: 0 }
  })
}
