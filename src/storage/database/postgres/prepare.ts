import { setTimeout as pause } from 'node:timers/promises'
import { migrations, nextMigration, type Migration } from '../migrations/index.ts'
import { announceMigration, assertCurrentSchema, type OpenOptions } from '../database.ts'
import { sql } from '../sql.ts'
import { DatabaseFault } from './faults.ts'
import {
  ConnectionPool,
  localLimits,
  READ_TIMEOUT_MS,
  SILENCE_MS,
  type PostgresConnection,
  type Report,
} from './pool.ts'

/** How long startup waits for the server: a machine starts the service and its database at the same time. */
export const START_TIMEOUT_MS = 30_000
const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 2_000

/** The first version with gen_random_uuid() and trusted extensions. */
const LEAST_VERSION = 130_000

/**
 * Waits until the server is ready, then migrates its schema, up to the version `schema`. With `existing` it only checks
 * that the schema is current.
 * @returns the version that the schema had; 0 if there was none
 */
export function prepareServer(
  url: string,
  report: Report,
  startTimeoutMs: number,
  options: OpenOptions = {},
): Promise<number> {
  const { schema, migrations, existing = false } = options
  return retryUntilReady(startTimeoutMs, report, async () => {
    // A new pool for each attempt: the next may reach another server at the address.
    await using pool = new ConnectionPool(url, 1, report)
    await pool.use(READ_TIMEOUT_MS, check)
    const version = await pool.use(READ_TIMEOUT_MS, schemaVersion)
    if (existing) assertCurrentSchema(version, 'the PostgreSQL database', 'the PostgreSQL database is empty')
    else {
      await announceMigration(options, version ?? 0)
      await migrate(pool, schema, migrations)
    }
    if (!(await pool.use(READ_TIMEOUT_MS, hasSearchIndex)))
      report(new DatabaseFault(new Error('pg_trgm cannot be had here: a search of images visits all images')))
    return version ?? 0
  })
}

async function retryUntilReady<T>(
  startTimeoutMs: number,
  report: Report,
  work: () => Promise<T>,
): Promise<T> {
  const deadline = performance.now() + startTimeoutMs
  let reported: string | undefined
  for (let delay = FIRST_PAUSE_MS; ; delay = Math.min(MAX_PAUSE_MS, delay * 2)) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof DatabaseFault)) throw error
      if (!error.passing) throw explained(error)
      const left = deadline - performance.now()
      if (left <= 0)
        throw new Error(`${error.message}; tried for ${startTimeoutMs / 1000} s`, { cause: error })
      if (error.message !== reported) report(error)
      reported = error.message
      await pause(Math.min(delay, left))
    }
  }
}

/** Checks the server before anything is written. */
async function check(connection: PostgresConnection): Promise<void> {
  const [server] = await connection.all(sql`
    SELECT CAST(current_setting('server_version_num') AS integer) AS version,
      current_setting('server_version') AS release, current_setting('server_encoding') AS encoding,
      current_setting('transaction_read_only') AS read_only`)
  if (Number(server?.['version']) < LEAST_VERSION) {
    throw new Error(`PostgreSQL ${String(server?.['release'])} is too old: use version 13 or newer`)
  }
  if (server?.['encoding'] !== 'UTF8') {
    throw new Error(
      `the encoding of the database is ${String(server?.['encoding'])}: create it with ENCODING 'UTF8'`,
    )
  }
  // A standby may become the primary at any time.
  if (server['read_only'] === 'on')
    throw new DatabaseFault(
      Object.assign(new Error('this server only reads: name the primary'), { code: '25006' }),
    )
}

/** Advice for errors whose own message gives none. */
const REMEDIES: Readonly<Record<string, string>> = {
  '3D000': "make it first: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0",
  '42501': 'the role needs CREATE on the schema, or the rights of the one that made the tables',
}

function explained(fault: DatabaseFault): Error {
  const remedy = REMEDIES[fault.code ?? '']
  return remedy === undefined ? fault : new Error(`${fault.message}; ${remedy}`, { cause: fault })
}

async function hasSearchIndex(connection: PostgresConnection): Promise<boolean> {
  const [found] = await connection.all(sql`SELECT to_regclass('images_name_trigrams') IS NOT NULL AS indexed`)
  return found?.['indexed'] === true
}

/** Advisory lock that lets one node at a time migrate. The number is arbitrary, but must not change. */
export const MIGRATION_LOCK = 1_667_331_187
/** A migration may build an index of a large table. */
const STEP_TIMEOUT_MS = 3_600_000
/**
 * How long a migration waits for a table that others use. Statements that come later queue behind it, so it gives up,
 * lets them pass and retries: old nodes are serving meanwhile.
 */
const TABLE_WAIT_MS = 1_000
const RETRY_MS = 500
const LOCK_NOT_AVAILABLE = '55P03'
const MAX_ATTEMPTS = 120

/**
 * Migrates the schema, one transaction per step, under a lock that nodes share.
 * @param target no step goes past this version
 * @throws if no step leads from the database's version to this program's
 */
async function migrate(
  pool: ConnectionPool,
  target = Infinity,
  steps: readonly Migration[] = migrations,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      const isDone = await pool.use(STEP_TIMEOUT_MS + SILENCE_MS, (connection) =>
        withMigrationLock(connection, () => step(connection, target, steps)),
      )
      if (isDone) return
      tries = 0
    } catch (error) {
      const isTaken = error instanceof DatabaseFault && error.code === LOCK_NOT_AVAILABLE
      if (!isTaken || tries >= MAX_ATTEMPTS) throw error
      await pause(RETRY_MS)
    }
  }
}

/** Returns the version of the schema; undefined if there is none. */
async function schemaVersion(connection: PostgresConnection): Promise<number | undefined> {
  // to_regclass would remember, while it waits for the lock, that there was no table before another node created it.
  const [known] = await connection.all(sql`
    SELECT EXISTS (SELECT FROM pg_class WHERE relname = 'schema_version' AND pg_table_is_visible(oid)) AS there`)
  if (known?.['there'] !== true) return undefined
  const [row] = await connection.all(sql`SELECT version FROM schema_version`)
  return Number(row?.['version'])
}

/** @returns whether no further step is left */
async function step(
  connection: PostgresConnection,
  target: number,
  steps: readonly Migration[],
): Promise<boolean> {
  const known = await schemaVersion(connection)
  // If the table exists, a role without the right to create tables is sufficient.
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
    return true
  }
  await connection.run(next.postgres)
  await connection.run('UPDATE schema_version SET version = $1', [next.version])
  return false
}

async function withMigrationLock<T>(connection: PostgresConnection, work: () => Promise<T>): Promise<T> {
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
 * Creates the index for searching images. It needs pg_trgm, which comes with PostgreSQL but may be missing or forbidden on
 * a managed server, so it is not a migration: each start creates it if it is missing, and continues without it if it is not
 * available. An existing one is left alone, because even CREATE INDEX IF NOT EXISTS waits for all writers. Version 0.1 had some of
 * names of domains, too; its nodes use them until the last one is replaced.
 * The planner tells rare patterns from common ones by a sample of the names. With the default sample of 100, one name
 * stands for 1 %: a pattern that happened to be in it was searched along the dates, 1.2 s at a million names, where the
 * index takes 5 ms.
 */
const SEARCH_INDEXES = `
  DO $$
  BEGIN
    IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm') THEN
      CREATE EXTENSION pg_trgm;
    END IF;
    IF to_regclass('images_name_trigrams') IS NULL THEN
      CREATE INDEX images_name_trigrams ON images USING gin (name_folded gin_trgm_ops);
      ALTER TABLE images ALTER COLUMN name_folded SET STATISTICS 1000;
    END IF;
  EXCEPTION
    WHEN OTHERS THEN NULL;
  END $$`
