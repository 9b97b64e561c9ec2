import { accountClient, type Client } from '../../../lib/client.ts'
import { withRetries } from '../../../lib/concurrency.ts'
import { postgresBatch, postgresBatchLock, postgresInsert } from '../batch.ts'
import { ChangeLog } from '../changes/change-log.ts'
import { TOPICS } from '../changes/change.ts'
import {
  type Database,
  type ObserveDatabase,
  type OpenOptions,
  type Reader,
  type Transaction,
  readGate,
  scanGate,
  WriteGate,
} from '../database.ts'
import { postgresDialect } from '../dialect.ts'
import { StorageFault } from '../faults.ts'
import { migrations, newest } from '../migrations/index.ts'
import { readerOn, sql, sqlValues } from '../sql.ts'
import { CommitWatch } from './commit-watch.ts'
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
  batchSilence,
  STATEMENT_SILENCE_MS,
  WRITE_TIMEOUT_MS,
} from './pool.ts'
import { prepareServer, START_TIMEOUT_MS } from './prepare.ts'

const BEGIN_SCAN = `BEGIN READ ONLY; ${localLimits(SCAN_TIMEOUT_MS)}`

export interface PostgresOptions extends OpenOptions {
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

/** After conflicts or lost connections. The pauses are random, so that rivals diverge. */
const RETRIES = { attempts: 8, firstPauseMs: 10 }
/**
 * Retries after a row broke a constraint. Two transactions found nothing and inserted the same row: a retry finds it. One that breaks
 * the constraint each time is a fault of ours.
 */
const MAX_VIOLATIONS = 2
/** No further attempt begins after this time. */
const MAX_TOTAL_MS = 15_000

/** Sorting a batch of 50,000 takes some 10 MB; with the server's default of 4 MB it would spill to disk. */
const SORT_MEMORY = '32MB'

/**
 * A server, database or role may be configured to acknowledge commits before they are on stable storage, which we
 * promise for every write. Stricter settings stay.
 */
const DURABLE = `SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'`

const begin = (limits: string) =>
  `BEGIN ISOLATION LEVEL READ COMMITTED; ${limits}; SET LOCAL work_mem = '${SORT_MEMORY}'; ${DURABLE}`

/** One statement of a transaction that fills a database may build an index of a large table. */
const FILL_TIMEOUT_MS = 3_600_000
/** It waits for rows that are read from a slow store. */
const FILL_IDLE_MS = 120_000

const BEGIN = begin(localLimits(WRITE_TIMEOUT_MS))
const BEGIN_FILL = begin(localLimits(FILL_TIMEOUT_MS, FILL_IDLE_MS))

/** The topics of this transaction's changes, read while they can still be identified by its number. */
const COMMIT = `
  SELECT DISTINCT topic FROM changes WHERE tx = pg_current_xact_id_if_assigned();
  COMMIT`

/**
 * Runs `work` in a transaction and retries it where that may help.
 * @param author the account that the changes are attributed to
 */
async function transact<T>(
  pool: ConnectionPool,
  watch: CommitWatch,
  work: (tx: Transaction) => Promise<T>,
  author: number | undefined,
  isFilling = false,
): Promise<T> {
  const deadline = performance.now() + MAX_TOTAL_MS
  let isCommitting = false
  const begin = author === undefined ? BEGIN : `${BEGIN}; SET LOCAL catalejo.account = ${author}`
  const silenceMs = isFilling ? FILL_TIMEOUT_MS + SILENCE_MS : STATEMENT_SILENCE_MS

  async function attempt(connection: PostgresConnection): Promise<T> {
    await connection.run(isFilling ? BEGIN_FILL : begin, undefined, READ_TIMEOUT_MS)
    try {
      const result = await work(transactionOn(connection, silenceMs))
      isCommitting = true
      // If it fails, it may have committed.
      let touched: readonly string[] = TOPICS
      try {
        touched = (await connection.several(COMMIT, silenceMs)).map(({ topic }) => String(topic))
      } finally {
        watch.committed(touched)
      }
      return result
    } catch (error) {
      // If this fails too, the connection is discarded and the server rolls back.
      if (!(error instanceof DatabaseFault && error.endsConnection))
        await connection.run('ROLLBACK', undefined, READ_TIMEOUT_MS).catch(() => {})
      throw error
    }
  }

  let violations = 0
  const isRetryable = (error: unknown) => {
    if (!(error instanceof DatabaseFault) || performance.now() > deadline) return false
    if (error.kind === 'violation') return ++violations <= MAX_VIOLATIONS
    // After COMMIT was sent, only the caller can decide whether to retry, because the outcome is unknown.
    return error.kind === 'conflict' || (error.kind === 'lost' && !isCommitting)
  }
  const run = () => {
    isCommitting = false
    return pool.use(WRITE_TIMEOUT_MS + SILENCE_MS, attempt)
  }
  return withRetries(run, { ...RETRIES, isRetryable })
}

/** A batch is sent unchanged, in the binary format of json, which is its text. */
const bytesOf = (rows: Uint8Array) => Buffer.from(rows.buffer, rows.byteOffset, rows.byteLength)

/** Returns the operations of a transaction, between its begin and its end. */
const transactionOn = (connection: PostgresConnection, silenceMs: number): Transaction => ({
  ...readerOn((form, query) => connection[form](query)),
  run: (query) => connection.run(query.text, sqlValues(query), silenceMs),
  async runMany(batch, constants, rows) {
    const json = bytesOf(rows)
    const batchMs = batchSilence(json.byteLength)
    if (batch.insert === undefined) await connection.run(postgresBatchLock(batch), [json], batchMs)
    return connection.run(postgresBatch(batch), [json, ...constants], batchMs)
  },
  insertMany: (table, columns, rows) =>
    connection.run(postgresInsert(table, columns), [bytesOf(rows)], silenceMs),
  newestChange: async () => undefined,
})
