import { ask } from '../api/client.ts'
import { recordFilters, type Filters } from '../domains/filters.ts'
import type { DomainRecord } from '../domains/records.ts'

/** Whether somebody has still to decide: it has no mark but those that the view asks for. */
export function isOpen(filters: Filters, { revision, discarded }: DomainRecord): boolean {
  return (revision === 0 || filters['rev'] !== undefined) && (discarded === 0 || filters['dis'] !== undefined)
}

/** How many records of the view are open; undefined if the view picks the newest ones, which nobody counts. */
export async function countOpen(filters: Filters, signal: AbortSignal): Promise<number | undefined> {
  if (filters['last_register'] !== undefined || filters['last_deleted'] !== undefined) return undefined
  const query = recordFilters(filters)
  const totals = async (more: Filters) =>
    (await ask('GET /api/v1/domainwatch/stats', { query: { ...query, ...more }, signal })).data.totals
  const hasReview = filters['rev'] !== undefined
  const hasDiscarded = filters['dis'] !== undefined
  if (hasReview || hasDiscarded) {
    const { records, revision, discarded } = await totals({})
    return records - (hasReview ? 0 : revision) - (hasDiscarded ? 0 : discarded)
  }
  const [all, both] = await Promise.all([totals({}), totals({ rev: '', dis: '' })])
  return all.records - all.revision - all.discarded + both.records
}
