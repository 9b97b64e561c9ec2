import type { Fields } from '../storage/database/changes/change.ts'
import type { FilteredRecord } from './filters.ts'
import { toColumn } from './tags.ts'
import type { SplitName } from './words/dictionary.ts'

/** A record as stored in a change. */
export interface ChangedRecord extends FilteredRecord {
  readonly note: string | null
}

/** Returns the record whose columns these fields hold. */
export function changedRecord(name: string, fields: Fields, split: SplitName): ChangedRecord {
  const { agent, status, reserved, revision, discarded_at = null, date_reg, date_mod } = fields
  const { released_at = null, seen_at = null, note = null, tags = null, date_reg_known } = fields
  return {
    name,
    agent: String(agent),
    status: Number(status),
    reserved: Number(reserved),
    revision: Number(revision),
    discarded_at: discarded_at === null ? null : Number(discarded_at),
    date_reg: String(date_reg),
    date_reg_known: date_reg_known === 0 ? 0 : 1,
    date_mod: String(date_mod),
    deleted_at: status === 0 ? String(released_at ?? date_reg) : null,
    seen_at: seen_at === null ? null : Number(seen_at),
    note: note === null ? null : String(note),
    tags: tags === null ? null : String(tags),
    // Few filters ask for them.
    get words() {
      return toColumn(split(name))
    },
  }
}
