import { aLabelOf } from '../../lib/domain-names.ts'
import {
  parseTimestamp,
  TIMESTAMP_LENGTH,
  type BuildOptions,
  type IndexedRecord,
  type Order,
} from '../../lib/name-index/index.ts'
import { LAYOUT, type FilteredRecord } from '../filters.ts'
import { splitTags } from '../tags.ts'

export const optionsFor = (order: Order): BuildOptions => ({ order, layout: LAYOUT, aLabelOf })

/** Returns what the index holds of a record. */
export function indexedRecord(record: FilteredRecord): IndexedRecord {
  const { name, agent, date_reg, date_mod, deleted_at, discarded_at, tags, words } = record
  return {
    name,
    words: splitTags(words),
    agent,
    discardedAt: discarded_at ?? NaN,
    registered: timestampOf(date_reg),
    modified: timestampOf(date_mod),
    deleted: deleted_at === null ? NaN : timestampOf(deleted_at),
    tags: tags ?? '',
    traits: LAYOUT.traits.map(({ of }) => of(record)),
  }
}

/** A date as the index has it; NaN if it is none. */
export const timestampOf = (text: string): number =>
  text.length === TIMESTAMP_LENGTH ? parseTimestamp(text) : NaN
