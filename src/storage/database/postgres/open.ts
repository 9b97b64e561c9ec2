import { ChangeLog } from '../changes/change-log.ts'
import { clientOf, connectionSlots } from '../connection-slots.ts'
import type { Database, ObserveDatabase } from '../database.ts'
import { StorageFault } from '../faults.ts'
import { migrations, newest } from '../migrations/index.ts'
import type { OpenOptions } from '../open-options.ts'
import { sql } from '../sql.ts'
import { CommitWatch } from './commit-watch.ts'
import { postgresDialect } from './dialect.ts'
import { DatabaseFault, storageKindOf } from './faults.ts'
import {
  ConnectionPool,
  connectionShares,
  localLimits,
  READ_TIMEOUT_MS,
  readerOn,
  SCAN_TIMEOUT_MS,
  SILENCE_MS,
  WRITE_TIMEOUT_MS,
  type PostgresConnection,
  type Report,
} from './pool.ts'
import { prepareServer, START_TIMEOUT_MS } from './prepare.ts'
import { transact } from './transactions.ts'

const BEGIN_SCAN = `BEGIN READ ONLY; ${localLimits(SCAN_TIMEOUT_MS)}`

export interface PostgresOptions extends Omit<OpenOptions, 'load'> {
  /** Where LISTEN works: the server itself, where `url` names a pooler in transaction mode. */
  readonly listenUrl?: string | undefined
  /** Connections in all but the listening one; at least 3. */
  readonly connections?: number | undefined
  /** How long a server that cannot be used yet is waited for. */
  readonly startTimeoutMs?: number
}

/**
 * Connects to PostgreSQL and makes or migrates the schema.
 * @param url `postgres://…`; it holds a password, so it goes nowhere else
 * @param report told of trouble that needs no help: a lost connection, a server that does not answer
 * @throws an error whose message is one line, fit to be shown, where the server cannot be used
 */
export async function openPostgres(
  url: string,
  observe: ObserveDatabase = () => {},
  report: Report = () => {},
  options: PostgresOptions = {},
): Promise<Database> {
  const { listenUrl = url, connections, onFault, startTimeoutMs = START_TIMEOUT_MS } = options
  const { schema = newest(options.migrations ?? migrations) } = options
  const version = await prepareServer(url, report, startTimeoutMs, options)
  if (version !== 0 && version < schema) options.onMigrated?.(version, schema)
  const share = connectionShares(connections)
  const reads = new ConnectionPool(url, share.reads, READ_TIMEOUT_MS, report)
  const writes = new ConnectionPool(url, share.writes, WRITE_TIMEOUT_MS + SILENCE_MS, report)
  const scans = new ConnectionPool(url, share.scans, SCAN_TIMEOUT_MS + SILENCE_MS, report)
  const writeTurns = connectionSlots('write', share.writes)
  const scanTurns = connectionSlots('scan', share.scans)
  const watch = new CommitWatch(listenUrl, report)

  async function timed<T>(operation: 'read' | 'scan' | 'write', work: () => Promise<T>): Promise<T> {
    const start = performance.now()
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof DatabaseFault)) throw error
      if (error.kind !== 'fault') report(error)
      const storage = storageKindOf(error)
      if (storage !== undefined) onFault?.(new StorageFault(storage, 'PostgreSQL', error.message))
      throw error.translated()
    } finally {
      observe(operation, (performance.now() - start) / 1000)
    }
  }

  const close = async () => {
    await watch.close()
    await Promise.all([reads.close(), writes.close(), scans.close()])
  }

  watch.start()

  const scannerFor = (account?: number) =>
    readerOn((work) =>
      timed('scan', () =>
        scanTurns.run(clientOf(account), () => scans.use((connection) => limited(connection, work))),
      ),
    )
  const reader = readerOn((work) => timed('read', () => again(() => reads.use(work))))
  return {
    dialect: postgresDialect,
    ...reader,
    scanner: scannerFor(),
    scannerOf: scannerFor,
    transaction: (work, author) =>
      timed('write', () => writeTurns.run(clientOf(author), () => transact(writes, watch, work, author))),
    snapshot: (work) =>
      timed('scan', () =>
        readSnapshot(url, report, (connection) => work(readerOn((use) => use(connection)))),
      ),
    version: (topic) => watch.version(topic),
    changes: new ChangeLog(reader, watch, postgresDialect),
    check: () => timed('scan', () => scans.use(checkPostgres)),
    ping: async () => {
      await reads.use((connection) => connection.rows(sql`SELECT 1`))
    },
    stats: () => ({ waitingWrites: writeTurns.waiting, waitingScans: scanTurns.waiting }),
    close,
  }
}

/** A connection that waited in the pool may be dead without our knowing: a read changes nothing, so it may go twice. */
async function again<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof DatabaseFault && error.kind === 'lost') return read()
    throw error
  }
}

async function limited<T>(
  connection: PostgresConnection,
  work: (connection: PostgresConnection) => Promise<T>,
): Promise<T> {
  await connection.run(BEGIN_SCAN, undefined, READ_TIMEOUT_MS)
  try {
    return await work(connection)
  } finally {
    await connection.run('COMMIT').catch(() => {})
  }
}

/** One page of rows, or a count of them all. */
const SNAPSHOT_TIMEOUT_MS = 60_000
/** What is done with a page before the next one is asked for. */
const SNAPSHOT_IDLE_MS = 120_000

const BEGIN_SNAPSHOT =
  `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${localLimits(SNAPSHOT_TIMEOUT_MS)}; ` +
  `SET LOCAL idle_in_transaction_session_timeout = ${SNAPSHOT_IDLE_MS}`

/** Runs `work` with a connection of its own that sees the database as it is now. */
async function readSnapshot<T>(
  url: string,
  report: Report,
  work: (connection: PostgresConnection) => Promise<T>,
): Promise<T> {
  const pool = new ConnectionPool(url, 1, SNAPSHOT_TIMEOUT_MS + SILENCE_MS, report)
  try {
    return await pool.use(async (connection) => {
      // The view is taken by the first statement after BEGIN.
      await connection.run(`${BEGIN_SNAPSHOT}; SELECT 1`)
      try {
        return await work(connection)
      } finally {
        await connection.run('COMMIT').catch(() => {})
      }
    })
  } finally {
    await pool.close()
  }
}

/** What its catalogue says of indexes that were not finished and of constraints that were never checked. */
async function checkPostgres(connection: PostgresConnection): Promise<string[]> {
  const rows = await connection.rows(sql`
    SELECT 'the index ' || relname || ' is not valid' AS fault
    FROM pg_index
    JOIN pg_class ON pg_class.oid = indexrelid
    WHERE NOT indisvalid AND relnamespace = current_schema()::regnamespace
    UNION ALL
    SELECT 'the constraint ' || conname || ' was never checked'
    FROM pg_constraint
    WHERE NOT convalidated AND connamespace = current_schema()::regnamespace`)
  return rows.map(({ fault }) => String(fault))
}
