import { hash } from 'node:crypto'
import type { Vocabulary } from '../../lib/lookalikes/index.ts'
import type { ChangedRecord } from '../events/event.ts'
import { matches, type Filters } from '../filters.ts'
import { splitTags, toColumn } from '../tags.ts'
import { readSavedFilters } from '../watches/watch-filters.ts'
import type { RecordRow } from '../queries-records.ts'
import type { SplitName } from '../words/dictionary.ts'

/** Stands for all members, in place of the account whose watch asks for a name. */
export const EVERYBODY = 0

/** A watch whose names are looked up again. */
export interface DnsWatch {
  readonly id: string
  readonly accountId: number
  /** As stored. They identify the watch together with its id, because they can be edited. */
  readonly saved: string
  readonly filters: Filters
  /** Returns true for a name that resembles the one that the watch is about, if it is about one. */
  readonly resembles: (name: string) => boolean
}

/** Returns undefined if the filters are not those of this version. */
export function dnsWatchOf(
  row: { readonly id: string; readonly account_id: number; readonly filters: string },
  vocabulary: Vocabulary,
): DnsWatch | undefined {
  const { id, account_id: accountId, filters: saved } = row
  const wanted = readSavedFilters(saved, vocabulary)
  return wanted?.looksUpDns === true ? { id, accountId, saved, ...wanted } : undefined
}

/** Decides which names are looked up again. */
export class RecheckRules {
  readonly watches: readonly DnsWatch[]
  readonly #tags: readonly string[]

  constructor(tags: readonly string[], watches: readonly DnsWatch[]) {
    this.#tags = tags
    this.watches = watches
  }

  /** Returns whether a record that has just changed may have to be added. */
  mayConcern(record: ChangedRecord): boolean {
    return record.revision === 1 || this.watches.length > 0 || this.#tags.length > 0
  }

  hasTag(tags: string | null): boolean {
    return splitTags(tags).some((tag) => this.#tags.includes(tag))
  }

  /** Returns on whose behalf a record is looked up: `EVERYBODY`, an account, or undefined if no rule selects it. */
  ownerOf(row: RecordRow, now: number, split: SplitName): number | undefined {
    const record = { ...row, words: toColumn(split(row.name)) }
    if (record.revision === 1 || this.hasTag(record.tags))
      return matches({}, record, now) ? EVERYBODY : undefined
    return this.watches.find(
      ({ filters, resembles }) => matches(filters, record, now) && resembles(record.name),
    )?.accountId
  }
}

/**
 * Returns the next regular time after `now` at which a name is looked up. Each name has its own offset in the interval, derived
 * from a hash, so that look-ups are spread evenly and keep their times across restarts. All times in milliseconds.
 */
export function nextCheck(name: string, now: number, intervalMs: number): number {
  const offset = Number.parseInt(hash('sha256', name).slice(0, 12), 16) % intervalMs
  return (Math.floor((now - offset) / intervalMs) + 1) * intervalMs + offset
}
