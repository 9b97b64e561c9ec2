import { hash } from 'node:crypto'
import type { Vocabulary } from '../../lib/lookalikes/index.ts'
import type { Filters } from '../filters.ts'
import { readSavedFilters } from '../watches/watch-filters.ts'
import type { DnsWatch } from './queries.ts'

/** Stands for all members, in place of the account whose watch asks for a name. */
export const EVERYBODY = 0

/** Selects names that are looked up again. */
export interface RecheckRule {
  /** On whose behalf. */
  readonly owner: number
  readonly filters: Filters
  /** Returns true for a name that resembles the one that the watch is about, if it is about one. */
  readonly resembles: (name: string) => boolean
}

/** The rules that apply without any watch, in the form of watches: records in review, and those with one of some tags. */
export function standingRules(tags: readonly string[]): readonly DnsWatch[] {
  return [{ revision: '1' }, ...tags.map((tag) => ({ tag }))].map((filters) => ({
    id: '',
    account_id: EVERYBODY,
    filters: JSON.stringify({ ...filters, dns: '1' }),
  }))
}

/** Returns undefined if the filters are not those of this version. */
export function ruleOf(row: DnsWatch, vocabulary: Vocabulary): RecheckRule | undefined {
  const wanted = readSavedFilters(row.filters, vocabulary)
  return wanted?.looksUpDns === true ? { owner: row.account_id, ...wanted } : undefined
}

/**
 * Returns the next regular time after `now` at which a name is looked up. Each name has its own offset in the interval, derived
 * from a hash, so that look-ups are spread evenly and keep their times across restarts. All times in milliseconds.
 */
export function nextCheck(name: string, now: number, intervalMs: number): number {
  const offset = Number.parseInt(hash('sha256', name).slice(0, 12), 16) % intervalMs
  return (Math.floor((now - offset) / intervalMs) + 1) * intervalMs + offset
}
