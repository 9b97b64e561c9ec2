import { setTimeout as pause } from 'node:timers/promises'
import { migrations } from '../migrations/index.ts'
import { sql } from '../sql.ts'
import { DatabaseFault } from './faults.ts'
import { localLimits } from './settings.ts'
import type { ConnectionPool, PostgresConnection } from './pool.ts'

/** Names the lock under which one node at a time changes the schema. Any number would do; it must stay. */
const MIGRATION_LOCK = 1_667_331_187
/** A step may build an index of a large table. */
const STEP_TIMEOUT_MS = 3_600_000
/**
 * Waiting for a table that others use. Whoever comes after queues behind us, so a step that does not get it gives up, lets
 * them pass and comes again: old nodes are serving meanwhile.
 */
const TABLE_WAIT_MS = 1_000
const RETRY_MS = 500
const LOCK_NOT_AVAILABLE = '55P03'
const MAX_TRIES = 120

/**
 * Brings the schema up to date, one transaction a step, under a lock that nodes which start together share.
 * @throws when a newer version of this program has changed the schema
 */
export async function migrate(pool: ConnectionPool): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      if ((await pool.use((connection) => locked(connection, step))) === 'done') return
      tries = 0
    } catch (error) {
      const isTaken = error instanceof DatabaseFault && error.code === LOCK_NOT_AVAILABLE
      if (!isTaken || tries >= MAX_TRIES) throw error
      await pause(RETRY_MS)
    }
  }
}

async function step(connection: PostgresConnection): Promise<'more' | 'done'> {
  // One row: the number of steps taken.
  await connection.run(`
    CREATE TABLE IF NOT EXISTS schema_version (
      only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row), version integer NOT NULL
    );
    INSERT INTO schema_version (version) VALUES (0) ON CONFLICT DO NOTHING`)
  const [row] = await connection.rows(sql`SELECT version FROM schema_version`)
  const current = Number(row?.['version'])
  if (current > migrations.length) {
    throw new Error(`the database is at schema ${current}, this version knows only ${migrations.length}`)
  }
  const next = migrations[current]
  if (next === undefined) {
    await connection.run(SEARCH_INDEXES)
    return 'done'
  }
  await connection.run(next.postgres)
  await connection.run('UPDATE schema_version SET version = $1', [current + 1])
  return 'more'
}

async function locked<T>(
  connection: PostgresConnection,
  work: (connection: PostgresConnection) => Promise<T>,
): Promise<T> {
  await connection.run(
    `BEGIN; ${localLimits(STEP_TIMEOUT_MS)}; SET LOCAL lock_timeout = 0; SET LOCAL client_min_messages = error`,
  )
  try {
    await connection.run('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
    await connection.run(`SET LOCAL lock_timeout = ${TABLE_WAIT_MS}`)
    const result = await work(connection)
    await connection.run('COMMIT')
    return result
  } catch (error) {
    await connection.run('ROLLBACK').catch(() => {})
    throw error
  }
}

/**
 * Searching is faster with pg_trgm, which comes with PostgreSQL but may be missing or not allowed on a managed server. So
 * it is no step of the schema: each start makes up for what is missing, and goes on without what cannot be had.
 */
const SEARCH_INDEXES = `
  DO $$
  BEGIN
    IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm') THEN
      CREATE EXTENSION pg_trgm;
    END IF;
    CREATE INDEX IF NOT EXISTS domains_name_trigrams ON domains USING gin (name gin_trgm_ops);
    CREATE INDEX IF NOT EXISTS domains_ascii_trigrams ON domains USING gin (ascii gin_trgm_ops)
      WHERE ascii IS NOT NULL;
    CREATE INDEX IF NOT EXISTS images_name_trigrams ON images USING gin (name_folded gin_trgm_ops);
  EXCEPTION
    WHEN OTHERS THEN NULL;
  END $$`
