import { defineBatch } from '../../storage/database/batch.ts'
import { isOneOf, type Dialect } from '../../storage/database/dialect.ts'
import { limit, sql, raw } from '../../storage/database/sql.ts'
import type { Table } from '../../storage/database/tables.ts'
import { importedNumbers } from '../queries-batches.ts'
import type { Facts, SourceState } from './rules.ts'

export interface SourceRow extends SourceState {
  readonly id: number
  readonly gaps: number
  readonly gap_from: number | null
}

export const addSource = (account: number, name: string, kind: string) => sql`
  INSERT INTO list_sources (account_id, name, kind) VALUES (${account}, ${name}, ${kind})
  ON CONFLICT (account_id, name) DO UPDATE SET kind = excluded.kind WHERE list_sources.kind <> excluded.kind`

/** Locks the source, so that its lists are read one batch after the other. */
export const sourceNamed = ({ forUpdate }: Dialect, account: number, name: string) => sql<SourceRow>`
  SELECT id, listed_at, digest, complete_at, names, gaps, gap_from FROM list_sources
  WHERE account_id = ${account} AND name = ${name} ${forUpdate}`

export const noteGap = (id: number, from: number, to: number) => sql`
  UPDATE list_sources SET gaps = gaps + 1, gap_from = ${from}, gap_to = ${to} WHERE id = ${id}`

export const noteList = (id: number, at: number, digest: string) => sql`
  UPDATE list_sources SET listed_at = ${at}, digest = ${digest} WHERE id = ${id}`

export const noteCompleteList = (id: number, at: number, names: number) => sql`
  UPDATE list_sources SET complete_at = ${at}, names = ${names} WHERE id = ${id}`

/** Forgets names that no list has had since a time. */
export const forgetNames = (id: number, before: number) => sql`
  DELETE FROM listed_names WHERE source_id = ${id} AND listed_at < ${before}`

/** The names of lists of deletions, and when each was last deleted at the earliest. */
export const LISTED_NAMES = {
  name: 'listed_names',
  key: ['name', 'source_id'],
  columns: { name: 'text', source_id: 'integer', not_before: 'integer', listed_at: 'integer' },
} as const satisfies Table

export interface ListedName {
  readonly name: string
  readonly not_before: number
  readonly listed_at: number
}

export const listedNames = (dialect: Dialect, source: number, names: readonly string[]) => sql<ListedName>`
  SELECT name, not_before, listed_at FROM listed_names
  WHERE ${isOneOf(dialect, sql`name`, names)} AND source_id = ${source}`

/** The latest bound of each name in any list of deletions. */
export const latestBounds = (dialect: Dialect, names: readonly string[]) => sql<{
  name: string
  not_before: number
}>`
  SELECT name, max(not_before) AS not_before FROM listed_names WHERE ${isOneOf(dialect, sql`name`, names)} GROUP BY name`

export interface KnownRow extends Facts {
  readonly name: string
  readonly date_mod: string
  readonly status_at: string | null
  readonly seen_at: number | null
  readonly seen_by: string | null
  readonly announce_as: string | null
  readonly announce_at: number | null
  readonly announce_for: number | null
}

/** The records with these names, locked in the order in which batches lock them. */
export const knownRecords = (dialect: Dialect, names: readonly string[]) => sql<KnownRow>`
  SELECT name, status, date_reg, date_reg_known, released_at, deleted_after, past_drops, date_mod, status_at, seen_at, seen_by,
    announce_as, announce_at, announce_for
  FROM domains WHERE ${isOneOf(dialect, sql`name`, names)} ORDER BY name ${dialect.forUpdate}`

/** What lists change in a record. */
const CHANGED = {
  status: 'integer',
  date_reg: 'text',
  date_reg_known: 'integer',
  released_at: 'text',
  deleted_after: 'text',
  past_drops: 'integer',
  date_mod: 'text',
  status_at: 'text',
  seen_at: 'integer',
  seen_by: 'text',
  announce_as: 'text',
  announce_at: 'integer',
  announce_for: 'integer',
} as const

/** Changes records that the transaction has locked. */
export const changeRecords = defineBatch({
  table: 'domains',
  key: 'name',
  constants: {},
  elements: { name: 'text', ...CHANGED },
  update: ({ name: _name, ...columns }) => columns,
})

/** Adds records. One that another transaction has added meanwhile is not counted. */
export const insertRecords = defineBatch({
  table: 'domains',
  key: 'name',
  constants: { agent: 'text', agent_folded: 'text' },
  elements: {
    name: 'text',
    ascii: 'text',
    length: 'integer',
    words: 'text',
    ...CHANGED,
    dismissed_by: 'text',
    dismissed_at: 'integer',
  },
  insert: (at) => ({ ...at, reserved: '0', numbers: importedNumbers(at.name) }),
  update: () => ({ name: 'excluded.name' }),
  when: () => '1 = 0',
})

/** How long news that a name became free wait for a list of registrations. */
export const ANNOUNCED_AFTER_MS = 6 * 60 * 60_000

/**
 * Which records are announced as free: those of lists that a list of registrations of the same account followed, and those that
 * have waited for too long, or that a clock stored which was set back since.
 */
const isAnnounced = (now: number) => sql`announce_at IS NOT NULL AND (
    announce_at <= ${now} OR announce_at > ${now + ANNOUNCED_AFTER_MS} OR announce_at - ${ANNOUNCED_AFTER_MS} <= (
      SELECT max(complete_at) FROM list_sources WHERE account_id = announce_for AND kind <> 'deletions'))`

export const anyToAnnounce = (now: number) => sql<{ name: string }>`
  SELECT name FROM domains WHERE ${isAnnounced(now)} LIMIT 1`

/** Ends the wait. A trigger writes the change that announces the names. */
export const announce = (now: number, count: number) => sql`
  UPDATE domains SET announce_as = NULL, announce_at = NULL, announce_for = NULL WHERE name IN (
    SELECT name FROM domains WHERE ${isAnnounced(now)} ORDER BY name ${limit(count)})
  AND ${isAnnounced(now)}`

export const serviceTimeZone = () => sql<{ time_zone: string | null }>`SELECT time_zone FROM instance`

export const setServiceTimeZone = (zone: string) => sql`
  UPDATE instance SET time_zone = ${zone} WHERE time_zone IS NULL OR time_zone <> ${zone}`

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
