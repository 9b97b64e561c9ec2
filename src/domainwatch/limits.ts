/**
 * Limits of domain records that several files share. Those that one file needs are at its top. The console gets what it
 * needs of either through `scripts/console-constants.ts`.
 */

/** Days from marking a record as discarded until it deletes itself. */
export const DISCARDED_RETENTION_DAYS = 7

/** Records in one request to `add` or `update`. */
export const MAX_BATCH_RECORDS = 50_000

/** Characters of a name without `.cl`: a DNS label has at most 63 octets (RFC 1035). */
export const MAX_LABEL_CHARACTERS = 63

/** The largest values of filters: records with a word, how often a name became free, and years that dates can be apart. */
export const MAX_DEMAND = 10_000_000
export const MAX_DROPS = 63
export const MAX_AGE = 9_998

/** Records in a page of a list, and changes in a page of a history. */
export const MAX_PAGE_RECORDS = 1_024

/** Names in one `POST dns`. */
export const MAX_DNS_NAMES = 1_000

/** Records in one answer of the queue: maximum and default. */
export const MAX_QUEUE_RECORDS = 100
export const DEFAULT_QUEUE_RECORDS = 20

/** Records that one account may hold at a time: one of the largest answers. */
export const MAX_CLAIMS = 100

/** How long a claim on a record of the queue lasts unless it is renewed. */
export const CLAIM_MINUTES = 10

/** How long a record stays after it was marked as discarded. */
export const DISCARDED_LIFETIME_MS = DISCARDED_RETENTION_DAYS * 24 * 60 * 60 * 1000

/** Records discarded at this time or before have expired at `now` and appear in no answer. Milliseconds since 1970. */
export const expiryCutoff = (now: number): number => now - DISCARDED_LIFETIME_MS

export const isExpired = (discardedAt: number, now: number): boolean => discardedAt <= expiryCutoff(now)
