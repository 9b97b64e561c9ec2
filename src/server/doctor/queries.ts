import { sql } from '../../storage/database/sql.ts'

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

export const deadDestinationsByChannel = () => sql<{ readonly channel: string; readonly count: number }>`
  SELECT channel, CAST(count(*) AS integer) AS count FROM watch_destinations WHERE state = 'dead' GROUP BY channel`

/** Destinations of watches whose deliveries were given up. */
export const deadDestinations = () => sql<{ readonly watch_id: string; readonly channel: string }>`
  SELECT watch_id, channel FROM watch_destinations WHERE state = 'dead' ORDER BY watch_id, position`
