import { ChangeLog } from '../changes/change-log.ts'
import { clientOf, connectionSlots, runWrite } from '../connection-slots.ts'
import type { Database, ObserveDatabase, OpenOptions } from '../database.ts'
import { StorageFault } from '../faults.ts'
import { migrations, newest } from '../migrations/index.ts'
import { sql } from '../sql.ts'
import { CommitWatch } from './commit-watch.ts'
import { postgresDialect } from '../dialect.ts'
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
  const reads = new ConnectionPool(url, share.reads, READ_TIMEOUT_MS, report)
  const writes = new ConnectionPool(url, share.writes, WRITE_TIMEOUT_MS + SILENCE_MS, report)
  const scans = new ConnectionPool(url, share.scans, SCAN_TIMEOUT_MS + SILENCE_MS, report)
  const readSlots = connectionSlots('read', share.reads)
  const writeSlots = connectionSlots('write', share.writes)
  const scanSlots = connectionSlots('scan', share.scans)
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
    await Promise.all([reads, writes, scans].map((pool) => pool[Symbol.asyncDispose]()))
  }

  watch.start()

  const scannerFor = (account?: number) =>
    readerOn((work) =>
      timed('scan', () =>
        scanSlots.run(clientOf(account), () => scans.use((connection) => withTimeouts(connection, work))),
      ),
    )
  const readerFor = (client: string) =>
    readerOn((work) => timed('read', () => readSlots.run(client, () => retryOnce(() => reads.use(work)))))
  const reader = readerFor(clientOf(undefined))
  return {
    dialect: postgresDialect,
    ...reader,
    readerOf: readerFor,
    scanner: scannerFor(),
    scannerOf: scannerFor,
    transaction: (work, author, { rows = 0 } = {}) => {
      const run = () => transact(writes, watch, work, author)
      return timed('write', () => runWrite(writeSlots, author, rows, run))
    },
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
    stats: () => ({ waitingWrites: writeSlots.waiting, waitingScans: scanSlots.waiting }),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Retries a read once, because an idle connection of the pool may be dead without our knowing. */
async function retryOnce<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof DatabaseFault && error.kind === 'lost') return read()
    throw error
  }
}

async function withTimeouts<T>(
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

/** Reading one page of rows, or counting them all. */
const SNAPSHOT_TIMEOUT_MS = 60_000
/** Processing a page before the next one is requested. */
const SNAPSHOT_IDLE_MS = 120_000

const BEGIN_SNAPSHOT =
  `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${localLimits(SNAPSHOT_TIMEOUT_MS)}; ` +
  `SET LOCAL idle_in_transaction_session_timeout = ${SNAPSHOT_IDLE_MS}`

/** Runs `work` with a separate connection that sees the database as it is now. */
async function readSnapshot<T>(
  url: string,
  report: Report,
  work: (connection: PostgresConnection) => Promise<T>,
): Promise<T> {
  await using pool = new ConnectionPool(url, 1, SNAPSHOT_TIMEOUT_MS + SILENCE_MS, report)
  return await pool.use(async (connection) => {
    // The snapshot is taken by the first statement after BEGIN.
    await connection.run(`${BEGIN_SNAPSHOT}; SELECT 1`)
    try {
      return await work(connection)
    } finally {
      await connection.run('COMMIT').catch(() => {})
    }
  })
}

/** Reports unfinished indexes and constraints that were never validated. */
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
