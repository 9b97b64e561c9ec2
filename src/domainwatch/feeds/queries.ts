import { raw, sql } from '../../storage/database/sql.ts'
import type { Table } from '../../storage/database/tables.ts'

export interface FeedStateRow {
  readonly name: string
  readonly source: string
  readonly first_at: number
  readonly attempted_at: number
  readonly due_at: number
  readonly succeeded_at: number | null
  /** When an import last changed records. */
  readonly changed_at: number | null
  /** Failed attempts since the last success. */
  readonly failures: number
  /** Why the last attempt failed, in Spanish. */
  readonly error: string | null
  readonly etag: string | null
  readonly last_modified: string | null
  /** Counts of the last import, like the next two. */
  readonly records_read: number | null
  readonly records_changed: number | null
  readonly lines_refused: number | null
}

export const FEED_STATES = {
  name: 'feed_states',
  key: ['name'],
  columns: {
    name: 'text',
    source: 'text',
    first_at: 'integer',
    attempted_at: 'integer',
    due_at: 'integer',
    succeeded_at: 'integer',
    changed_at: 'integer',
    failures: 'integer',
    error: 'text',
    etag: 'text',
    last_modified: 'text',
    records_read: 'integer',
    records_changed: 'integer',
    lines_refused: 'integer',
  },
} as const satisfies Table

/** Selects all states. There are at most as many as feeds, and those that were recently removed from the settings. */
export const feedStates = () => sql<FeedStateRow>`
  SELECT ${raw(Object.keys(FEED_STATES.columns).join(', '))} FROM feed_states ORDER BY name`

/** Deletes the states of feeds that were not attempted since a time. */
export const deleteOldStates = (before: number) => sql`DELETE FROM feed_states WHERE attempted_at < ${before}`

/** The source of a feed: its last complete list and its gaps. */
export interface FeedSourceRow {
  readonly account: string
  readonly name: string
  readonly listed_at: number | null
  readonly complete_at: number | null
  readonly gaps: number
  readonly gap_to: number | null
}

export const feedSources = () => sql<FeedSourceRow>`
  SELECT accounts.name AS account, list_sources.name, listed_at, complete_at, gaps, gap_to
  FROM list_sources JOIN accounts ON accounts.id = account_id WHERE list_sources.name LIKE 'feed:%'`
