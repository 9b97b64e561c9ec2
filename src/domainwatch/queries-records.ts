import type { Dialect } from '../storage/database/dialect.ts'
import { sql } from '../storage/database/sql.ts'
import { notGone } from './queries.ts'

/** A record with everything that is stored of it. */
export interface RecordRow {
  readonly name: string
  readonly length: number
  readonly agent: string
  readonly status: number
  readonly reserved: number
  readonly revision: number
  /** Milliseconds since 1970, as `seen_at`; null if it is not discarded. */
  readonly discarded_at: number | null
  readonly date_reg: string
  readonly date_mod: string
  readonly deleted_at: string | null
  readonly seen_at: number | null
  readonly seen_by: string | null
  readonly note: string | null
  /** As `joinTags` returns it. */
  readonly tags: string | null
}

/** The records with these names, in no order. @param names a JSON array of arrays with a name each */
export function recordsNamed(dialect: Dialect, names: string, now: number) {
  const given = dialect.jsonRows(names, ['text'])
  return sql<RecordRow>`
    SELECT name, length, agent, status, reserved, revision, discarded_at, date_reg, date_mod, deleted_at,
      seen_at, seen_by, note, tags
    FROM domains WHERE name IN (SELECT ${given.columns} FROM ${given.table}) AND ${notGone(now)}`
}
