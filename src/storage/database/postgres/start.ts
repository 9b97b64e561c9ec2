import { setTimeout as pause } from 'node:timers/promises'
import { assertCurrentSchema, type OpenOptions } from '../opening.ts'
import { sql } from '../sql.ts'
import { DatabaseFault } from './faults.ts'
import { migrate, schemaVersion, STEP_TIMEOUT_MS } from './migrate.ts'
import { ConnectionPool, type Report } from './pool.ts'
import { READ_TIMEOUT_MS, SILENCE_MS } from './settings.ts'

/** Whoever starts a machine starts the service and its database together: a server that is not up yet is waited for. */
export const START_PATIENCE_MS = 30_000
const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 2_000

/** The first that makes random ids by itself, and lets the owner of a database add the extension for searching. */
const LEAST_VERSION = 130_000

/**
 * Once the server can be used, brings its schema up to date, or up to the version `schema`; with `existing`, only makes sure
 * that it is.
 * @returns the version that the schema was at; 0 if there was none
 */
export function prepareServer(
  url: string,
  report: Report,
  patienceMs: number,
  { schema, migrations, existing = false }: Pick<OpenOptions, 'schema' | 'migrations' | 'existing'> = {},
): Promise<number> {
  return patiently(patienceMs, report, async () => {
    // New ones for each attempt: the next may find another server at the address.
    const reads = new ConnectionPool(url, 1, READ_TIMEOUT_MS, report)
    const steps = new ConnectionPool(url, 1, STEP_TIMEOUT_MS + SILENCE_MS, report)
    try {
      await check(reads)
      const version = await reads.use(schemaVersion)
      if (existing)
        assertCurrentSchema(version, 'the PostgreSQL database', 'the PostgreSQL database is empty')
      else await migrate(steps, schema, migrations)
      await tellOfSearch(reads, report)
      return version ?? 0
    } finally {
      await Promise.all([reads.close(), steps.close()])
    }
  })
}

async function patiently<T>(patienceMs: number, report: Report, work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + patienceMs
  let reported: string | undefined
  for (let delay = FIRST_PAUSE_MS; ; delay = Math.min(MAX_PAUSE_MS, delay * 2)) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof DatabaseFault)) throw error
      if (!error.passing) throw explained(error)
      const left = deadline - performance.now()
      if (left <= 0) throw new Error(`${error.message}; tried for ${patienceMs / 1000} s`, { cause: error })
      if (error.message !== reported) report(error)
      reported = error.message
      await pause(Math.min(delay, left))
    }
  }
}

/** What the service cannot work with is said before anything is written. */
async function check(pool: ConnectionPool): Promise<void> {
  const [server] = await pool.use((connection) =>
    connection.rows(sql`
      SELECT CAST(current_setting('server_version_num') AS integer) AS version,
        current_setting('server_version') AS release, current_setting('server_encoding') AS encoding,
        current_setting('transaction_read_only') AS read_only`),
  )
  if (Number(server?.['version']) < LEAST_VERSION) {
    throw new Error(`PostgreSQL ${String(server?.['release'])} is too old, it takes 13 or newer`)
  }
  if (server?.['encoding'] !== 'UTF8') {
    throw new Error(
      `the database's encoding is ${String(server?.['encoding'])}, it takes one made with ENCODING 'UTF8'`,
    )
  }
  // A standby may be made the primary any moment.
  if (server['read_only'] === 'on')
    throw new DatabaseFault(new ReadOnly('this server only reads: name the primary'))
}

class ReadOnly extends Error {
  readonly code = '25006'
}

/** What to do about it, where the server's own words leave that open. */
const REMEDIES: Readonly<Record<string, string>> = {
  '3D000': "make it first: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0",
  '42501': 'the role needs CREATE on the schema, or the rights of the one that made the tables',
}

function explained(fault: DatabaseFault): Error {
  const remedy = REMEDIES[fault.code ?? '']
  return remedy === undefined ? fault : new Error(`${fault.message}; ${remedy}`, { cause: fault })
}

async function tellOfSearch(pool: ConnectionPool, report: Report): Promise<void> {
  const [found] = await pool.use((connection) =>
    connection.rows(sql`SELECT to_regclass('domains_name_trigrams') IS NOT NULL AS indexed`),
  )
  if (found?.['indexed'] !== true) {
    report(new DatabaseFault(new Error('pg_trgm cannot be had here: every search visits every record')))
  }
}
