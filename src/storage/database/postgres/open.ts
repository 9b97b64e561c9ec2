import { withRetries } from '../../../lib/concurrency.ts'
import { ChangeLog } from '../changes/change-log.ts'
import { accountClient, type Client } from '../../../lib/client.ts'
import { readGate, scanGate, WriteGate } from '../gates.ts'
import type { Database, ObserveDatabase, OpenOptions, Reader } from '../database.ts'
import { StorageFault } from '../faults.ts'
import { migrations, newest } from '../migrations/index.ts'
import { readerOn, sql } from '../sql.ts'
import { CommitWatch } from './commit-watch.ts'
import { postgresDialect } from '../dialect.ts'
import { DatabaseFault, toStorageKind } from './faults.ts'
import {
  ConnectionPool,
  connectionShares,
  localLimits,
  inTransaction,
  READ_TIMEOUT_MS,
  SCAN_TIMEOUT_MS,
  SILENCE_MS,
  type PostgresConnection,
  type Report,
} from './pool.ts'
import { prepareServer, START_TIMEOUT_MS } from './prepare.ts'
import { transact } from './transactions.ts'

const BEGIN_SCAN = `BEGIN READ ONLY; ${localLimits(SCAN_TIMEOUT_MS)}`

export interface PostgresOptions extends Omit<OpenOptions, 'load'> {
  /** The server itself, for LISTEN, if `url` names a pooler in transaction mode. */
  readonly listenUrl?: string | undefined
  /** Connections without the listening one; at least 3. */
  readonly connections?: number | undefined
  /** How long startup waits for a server that is not ready. */
  readonly startTimeoutMs?: number
}

/**
 * Connects to PostgreSQL and creates or migrates the schema.
 * @param url `postgres://…`; it contains a password, so it is passed on to nothing else
 * @param report called with failures that need no action: a lost connection, a server that does not answer
 * @throws an error with a one-line message for the user, if the server cannot be used
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
  const pool = new ConnectionPool(url, share.reads + share.writes + share.scans, report)
  const reads = readGate(share.reads)
  const writes = new WriteGate(share.writes)
  const scans = scanGate(share.scans)
  const watch = new CommitWatch(listenUrl, report)

  async function timed<T>(operation: 'read' | 'scan' | 'write', work: () => Promise<T>): Promise<T> {
    const start = performance.now()
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof DatabaseFault)) throw error
      if (error.kind !== 'fault') report(error)
      const storage = toStorageKind(error)
      if (storage !== undefined) onFault?.(new StorageFault(storage, 'PostgreSQL', error.message))
      throw error.translated()
    } finally {
      observe(operation, (performance.now() - start) / 1000)
    }
  }

  const close = async () => {
    await watch.close()
    await pool[Symbol.asyncDispose]()
  }

  watch.start()

  const scannerFor = (account?: number, signal?: AbortSignal) =>
    readerOn((form, query) => {
      const read = (connection: PostgresConnection) =>
        inTransaction(connection, BEGIN_SCAN, () => connection[form](query))
      return timed('scan', () =>
        scans.run(accountClient(account), () => pool.use(SCAN_TIMEOUT_MS + SILENCE_MS, read), signal),
      )
    })
  const readerFor = (client: Client) =>
    readerOn((form, query) => {
      const read = () => pool.use(READ_TIMEOUT_MS, (connection) => connection[form](query))
      return timed('read', () => reads.run(client, () => withRetries(read, RETRY_IF_LOST)))
    })
  const reader = readerFor(accountClient(undefined))
  return {
    dialect: postgresDialect,
    ...reader,
    readerOf: readerFor,
    scanner: scannerFor(),
    scannerOf: scannerFor,
    transaction: (work, author, { purpose, rows = 0 } = {}) => {
      const run = () => transact(pool, watch, work, author, purpose === 'fill')
      return timed('write', () => writes.run(author, rows, run))
    },
    snapshot: (work) => timed('scan', () => readSnapshot(url, report, work)),
    version: (topic) => watch.version(topic),
    changes: new ChangeLog(reader, watch, postgresDialect),
    check: () => timed('scan', () => pool.use(SCAN_TIMEOUT_MS + SILENCE_MS, checkPostgres)),
    ping: async () => {
      await pool.use(READ_TIMEOUT_MS, (connection) => connection.run('SELECT 1'))
    },
    stats: () => ({ waitingWrites: writes.waiting, waitingScans: scans.waiting }),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** An idle connection of the pool may be dead without our knowing. */
const RETRY_IF_LOST = {
  attempts: 2,
  firstPauseMs: 1,
  isRetryable: (error: unknown) => error instanceof DatabaseFault && error.kind === 'lost',
}

/** Reading one page of rows, or counting them all. */
const SNAPSHOT_TIMEOUT_MS = 60_000
/** Processing a page before the next one is requested. */
const SNAPSHOT_IDLE_MS = 120_000

const BEGIN_SNAPSHOT =
  `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${localLimits(SNAPSHOT_TIMEOUT_MS)}; ` +
  // The snapshot is taken by the first statement after BEGIN.
  `SET LOCAL idle_in_transaction_session_timeout = ${SNAPSHOT_IDLE_MS}; SELECT 1`

/** Runs `work` with a separate connection that sees the database as it is now. */
async function readSnapshot<T>(
  url: string,
  report: Report,
  work: (reader: Reader) => Promise<T>,
): Promise<T> {
  await using pool = new ConnectionPool(url, 1, report)
  return await pool.use(SNAPSHOT_TIMEOUT_MS + SILENCE_MS, (connection) =>
    inTransaction(connection, BEGIN_SNAPSHOT, () => work(readerOn((form, query) => connection[form](query)))),
  )
}

/** Reports unfinished indexes and constraints that were never validated. */
async function checkPostgres(connection: PostgresConnection): Promise<string[]> {
  const rows = await connection.all(sql`
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
