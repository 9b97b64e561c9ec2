import { setTimeout as pause } from 'node:timers/promises'
import { migrations, nextMigration, type Migration } from '../migrations/index.ts'
import { sql } from '../sql.ts'
import { DatabaseFault } from './faults.ts'
import { localLimits } from './settings.ts'
import type { ConnectionPool, PostgresConnection } from './pool.ts'

/** Names the lock under which one node at a time changes the schema. Any number would do; it must stay. */
const MIGRATION_LOCK = 1_667_331_187
/** A step may build an index of a large table. */
export const STEP_TIMEOUT_MS = 3_600_000
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
 * @param target no step goes past this version
 * @throws if no step leads from the database's version to this program's
 */
export async function migrate(
  pool: ConnectionPool,
  target = Infinity,
  steps: readonly Migration[] = migrations,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      const left = await pool.use((connection) => locked(connection, () => step(connection, target, steps)))
      if (left === 'done') return
      tries = 0
    } catch (error) {
      const isTaken = error instanceof DatabaseFault && error.code === LOCK_NOT_AVAILABLE
      if (!isTaken || tries >= MAX_TRIES) throw error
      await pause(RETRY_MS)
    }
  }
}

/** The number of steps taken; undefined where nobody has taken one. */
export async function schemaVersion(connection: PostgresConnection): Promise<number | undefined> {
  const [known] = await connection.rows(sql`SELECT to_regclass('schema_version') IS NOT NULL AS there`)
  if (known?.['there'] !== true) return undefined
  const [row] = await connection.rows(sql`SELECT version FROM schema_version`)
  return Number(row?.['version'])
}

async function step(
  connection: PostgresConnection,
  target: number,
  steps: readonly Migration[],
): Promise<'more' | 'done'> {
  const known = await schemaVersion(connection)
  // One row. Where it is there, a role that may not create tables does as well.
  if (known === undefined) {
    await connection.run(`
      CREATE TABLE schema_version (
        only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row), version integer NOT NULL
      );
      INSERT INTO schema_version (version) VALUES (0)`)
  }
  const next = nextMigration(known ?? 0, target, steps)
  if (next === undefined) {
    await connection.run(SEARCH_INDEXES)
    return 'done'
  }
  await connection.run(next.postgres)
  await connection.run('UPDATE schema_version SET version = $1', [next.version])
  return 'more'
}

async function locked<T>(connection: PostgresConnection, work: () => Promise<T>): Promise<T> {
  await connection.run(
    `BEGIN; ${localLimits(STEP_TIMEOUT_MS)}; SET LOCAL lock_timeout = 0; SET LOCAL client_min_messages = error`,
  )
  try {
    await connection.run('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
    await connection.run(`SET LOCAL lock_timeout = ${TABLE_WAIT_MS}`)
    const result = await work()
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
 * What is there is not touched: even to find that out, CREATE INDEX would wait for everybody who writes.
 *
 * The planner tells rare patterns from common ones by a sample of the names. With the default sample of 100 one name in it
 * stands for 1%: a pattern that happens to be in it was looked for along the dates, 1.2 s at a million names where
 * the index takes 5 ms.
 */
const SEARCH_INDEXES = `
  DO $$
  BEGIN
    IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm') THEN
      CREATE EXTENSION pg_trgm;
    END IF;
    IF to_regclass('domains_name_trigrams') IS NULL THEN
      CREATE INDEX domains_name_trigrams ON domains USING gin (name gin_trgm_ops);
      ALTER TABLE domains ALTER COLUMN name SET STATISTICS 1000;
    END IF;
    IF to_regclass('domains_ascii_trigrams') IS NULL THEN
      CREATE INDEX domains_ascii_trigrams ON domains USING gin (ascii gin_trgm_ops) WHERE ascii IS NOT NULL;
    END IF;
    IF to_regclass('images_name_trigrams') IS NULL THEN
      CREATE INDEX images_name_trigrams ON images USING gin (name_folded gin_trgm_ops);
      ALTER TABLE images ALTER COLUMN name_folded SET STATISTICS 1000;
    END IF;
  EXCEPTION
    WHEN OTHERS THEN NULL;
  END $$`
