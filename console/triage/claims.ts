import { ask } from '../api/client.ts'
import { keyFor } from '../api/session.ts'
import type { Filters } from '../domains/filters.ts'
import type { DomainRecord } from '../domains/records.ts'

/** Duration of a claim. */
export const CLAIM_MS = 10 * 60_000
/** Maximum claims per call. */
export const MAX_CLAIMED = 100

/** The default view: free names. The service adds that they are undecided. */
export const viewOf = (filters: Filters): Filters =>
  Object.keys(filters).length === 0 ? { status: '0' } : filters

/** The filters for the queue: a flag for marked records must override the default that excludes them. */
export function queueQuery(filters: Filters): Filters {
  const { rev, dis, ...others } = filters
  return {
    order: 'deleted',
    ...others,
    ...(rev === undefined ? {} : { revision: '1' }),
    ...(dis === undefined ? {} : { discarded: '1' }),
  }
}

interface Claimed {
  readonly records: readonly DomainRecord[]
  /** Matches that no one else holds. */
  readonly remaining: number
}

/** Claims the next records for this account, and extends the claims that it holds. */
export async function claim(filters: Filters, limit: number, signal: AbortSignal): Promise<Claimed> {
  const query = { ...queueQuery(filters), limit, fields: 'all' }
  const { data } = await ask('POST /api/v1/domainwatch/queue', { query, signal })
  // What the queue excludes by default.
  const seen = Number(filters['seen'] ?? 0)
  const records = (data.data[0] ?? []).map((record) => ({ seen, ...record }))
  return { records, remaining: data.remaining }
}

/** Releases these names, also while the page is being closed. */
export function release(names: readonly string[], key = keyFor('domainwatch')): void {
  if (names.length === 0 || key === undefined) return
  ask('DELETE /api/v1/domainwatch/queue', {
    query: { data: JSON.stringify(names) },
    key,
    isLast: true,
  }).catch(() => undefined)
}
