import { DISCARDED_RETENTION_DAYS } from './limits.ts'

/** From the moment of marking a discarded record until it deletes itself. */
export const DISCARDED_LIFETIME_MS = DISCARDED_RETENTION_DAYS * 24 * 60 * 60 * 1000

/** What was marked at this moment or before is gone by `now`: it is in no answer. Milliseconds since 1970. */
export const goneBefore = (now: number): number => now - DISCARDED_LIFETIME_MS

export const isGone = (discardedAt: number, now: number): boolean => discardedAt <= goneBefore(now)
