import { isOneOf, type Dialect } from '../storage/database/dialect.ts'
import { sql, limit, raw, type Sql } from '../storage/database/sql.ts'

export const firstAccount = () => sql<{ name: string; created_at: number }>`
  SELECT name, created_at FROM accounts ORDER BY id LIMIT 1`

/** Pages in the order of a primary key, each starting after the previous one. */

export const blobsAfter = (hash: string, count: number) => sql<{
  readonly hash: string
  readonly key: string
  readonly size: number
  readonly width: number
  readonly height: number
  readonly frames: number
  readonly dhash: string
  readonly is_held: number
  readonly is_trash: number
}>`
  SELECT hash, key, size, width, height, frames, dhash,
    CASE WHEN EXISTS (SELECT 1 FROM images WHERE images.hash = blobs.hash) THEN 1 ELSE 0 END AS is_held,
    CASE WHEN EXISTS (SELECT 1 FROM blob_trash WHERE blob_trash.key = blobs.key) THEN 1 ELSE 0 END AS is_trash
  FROM blobs WHERE hash > ${hash} ORDER BY hash ${limit(count)}`

export const imagesAfter = (accountId: number, hash: string, count: number) => sql<{
  readonly account_id: number
  readonly hash: string
  readonly name: string
  readonly name_folded: string
  readonly blob: string | null
  readonly service: string | null
}>`
  SELECT images.account_id, images.hash, images.name, images.name_folded, blobs.hash AS blob, accounts.service
  FROM images
  LEFT JOIN blobs ON blobs.hash = images.hash
  LEFT JOIN accounts ON accounts.id = images.account_id
  WHERE (images.account_id, images.hash) > (${accountId}, ${hash})
  ORDER BY images.account_id, images.hash ${limit(count)}`

export const domainsAfter = (name: string, count: number) => sql<{
  readonly name: string
  readonly ascii: string | null
  readonly length: number
  readonly agent: string
  readonly agent_folded: string
  readonly status: number
  readonly reserved: number
  readonly revision: number
  readonly date_reg: string
  readonly date_mod: string
  readonly released_at: string | null
  readonly deleted_at: string | null
  readonly discarded_at: number | null
  readonly seen_at: number | null
  readonly seen_by: string | null
  readonly tags: string | null
  readonly words: string | null
  readonly numbers: string | null
  readonly imported: string | null
}>`
  SELECT domains.name, ascii, length, agent, agent_folded, status, reserved, revision, date_reg, date_mod, released_at,
    deleted_at, discarded_at, seen_at, seen_by, tags, words, domains.numbers, numbers.numbers AS imported
  FROM domains LEFT JOIN numbers ON numbers.name = domains.name
  WHERE domains.name > ${name} ORDER BY domains.name ${limit(count)}`

export const keysWithoutAccount = () => sql<{ readonly id: string }>`
  SELECT keys.id FROM keys LEFT JOIN accounts ON accounts.id = keys.account_id WHERE accounts.id IS NULL`

/** Whether a blob still has this key. */
export const blobWithKey = (hash: string, key: string) => sql<{ readonly size: number }>`
  SELECT size FROM blobs WHERE hash = ${hash} AND key = ${key}`

/** What a member has written of a record, in an order of its own. */
const RECORD = [
  'status',
  'reserved',
  'revision',
  'discarded_at',
  'date_reg',
  'date_mod',
  'agent',
  'seen_at',
  'note',
  'tags',
]

const record = (dialect: Dialect): Sql => dialect.jsonArray(RECORD.map((column) => raw(column)))

interface NamedRecord {
  readonly name: string
  /** A JSON array. */
  readonly record: string
}

export const sampleOfDomains = (dialect: Dialect, count: number) => sql<NamedRecord>`
  SELECT name, ${record(dialect)} AS record FROM domains ORDER BY random() ${limit(count)}`

export const recordsNamed = (dialect: Dialect, names: readonly string[]) => sql<NamedRecord>`
  SELECT name, ${record(dialect)} AS record FROM domains WHERE ${isOneOf(dialect, raw('name'), names)}`

/** Those of some names of which a change was recorded since a time. */
export const changedSince = (dialect: Dialect, names: readonly string[], time: number) => sql<{
  readonly name: string
}>`
  SELECT DISTINCT key AS name FROM changes
  WHERE topic = 'domain' AND ${isOneOf(dialect, raw('key'), names)} AND at >= ${time}`

export const sampleOfBlobs = (count: number) =>
  sql<{
    readonly hash: string
    readonly key: string
    readonly size: number
  }>`SELECT hash, key, size FROM blobs ORDER BY random() ${limit(count)}`

/** What operators do regularly: with the backups of an instance, and its verification. */
export type RunKind = 'backup' | 'check' | 'drill' | 'verify'

/** Times in milliseconds since 1970. */
export interface BackupRun {
  readonly kind: RunKind
  readonly attempted_at: number
  readonly succeeded_at: number | null
  readonly duration_ms: number
  /** Why the last attempt failed; null if it succeeded. */
  readonly error: string | null
}

export const backupRuns = () => sql<BackupRun>`
  SELECT kind, attempted_at, succeeded_at, duration_ms, error FROM backup_runs`

/** @param error null if it succeeded */
export const recordRun = (kind: RunKind, at: number, durationMs: number, error: string | null) => sql`
  INSERT INTO backup_runs (kind, attempted_at, succeeded_at, duration_ms, error)
  VALUES (${kind}, ${at}, ${error === null ? at : null}, ${durationMs}, ${error})
  ON CONFLICT (kind) DO UPDATE SET attempted_at = excluded.attempted_at,
    succeeded_at = COALESCE(excluded.succeeded_at, backup_runs.succeeded_at),
    duration_ms = excluded.duration_ms, error = excluded.error`

/** The latest time of the last changes, of which some may have been made by another clock; null if there are none. */
export const latestChange = () => sql<{ at: number | null }>`
  SELECT max(at) AS at FROM (SELECT at FROM changes ORDER BY id DESC LIMIT 1000) AS last`

/** What a PostgreSQL server says of itself; `now` is its clock in milliseconds since 1970. */
export const serverState = () => sql<{
  readonly release: string
  readonly max_connections: number
  readonly connections: number
  readonly has_trigrams: boolean
  readonly now: number
}>`
  SELECT current_setting('server_version') AS release,
    CAST(current_setting('max_connections') AS integer)
      - CAST(current_setting('superuser_reserved_connections') AS integer) AS max_connections,
    CAST((SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS integer) AS connections,
    EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm') AS has_trigrams,
    CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint) AS now`

/** Destinations of watches whose deliveries were given up. */
export const deadDestinations = () => sql<{ readonly watch_id: string; readonly channel: string }>`
  SELECT watch_id, channel FROM watch_destinations WHERE state = 'dead' ORDER BY watch_id, position`
