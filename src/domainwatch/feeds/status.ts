import { createHash } from 'node:crypto'
import type { FeedStateRow } from './queries.ts'
import type { Feed } from './settings.ts'

/** Intervals without success after which a feed is stale. */
const STALE_INTERVALS = 3

export interface FeedStatus {
  readonly feed: Feed
  readonly attemptedAt: number | null
  readonly succeededAt: number | null
  /** When an import last changed records. */
  readonly changedAt: number | null
  /** Failed attempts since the last success. */
  readonly failures: number
  /** Why the last attempt failed, in Spanish. */
  readonly error: string | null
  /** Counts of the last import. */
  readonly counts: { readonly read: number; readonly changed: number; readonly refused: number } | null
  readonly isStale: boolean
}

export function statusOf(feed: Feed, row: FeedStateRow | undefined, now: number): FeedStatus {
  const {
    records_read: read = null,
    records_changed: changed = null,
    lines_refused: refused = null,
  } = row ?? {}
  const since = row?.succeeded_at ?? row?.first_at ?? now
  return {
    feed,
    attemptedAt: row?.attempted_at ?? null,
    succeededAt: row?.succeeded_at ?? null,
    changedAt: row?.changed_at ?? null,
    failures: row?.failures ?? 0,
    error: row?.error ?? null,
    counts: read === null || changed === null || refused === null ? null : { read, changed, refused },
    isStale: now - since > STALE_INTERVALS * feed.everyMs,
  }
}

/** Returns the time from which a feed is to be fetched. */
export function dueAt(feed: Feed, row: FeedStateRow | undefined, now: number): number {
  // A time in the future means that the clock was set back.
  if (row === undefined || row.source !== sourceOf(feed) || row.attempted_at > now) return 0
  return Math.min(row.due_at, row.attempted_at + feed.everyMs)
}

/** Identifies what the validators of a list belong to. A digest, because addresses may contain secrets. */
export function sourceOf({ url, format, account }: Feed): string {
  return createHash('sha256')
    .update(JSON.stringify([url, format, account]))
    .digest('base64url')
}
