import { DISCARDED_RETENTION_DAYS } from './limits.ts'

/** How long a record stays after it was marked as discarded. */
export const DISCARDED_LIFETIME_MS = DISCARDED_RETENTION_DAYS * 24 * 60 * 60 * 1000

/** Records discarded at this time or before have expired at `now` and appear in no answer. Milliseconds since 1970. */
export const goneBefore = (now: number): number => now - DISCARDED_LIFETIME_MS

export const isGone = (discardedAt: number, now: number): boolean => discardedAt <= goneBefore(now)
