import { withRetries } from '../../../lib/concurrency.ts'
import { TOPICS } from '../changes/change.ts'
import type { Transaction } from '../database.ts'
import { postgresBatch, postgresBatchLock, postgresInsert } from '../batch.ts'
import { DatabaseFault } from './faults.ts'
import {
  batchSilence,
  localLimits,
  READ_TIMEOUT_MS,
  SILENCE_MS,
  STATEMENT_SILENCE_MS,
  WRITE_TIMEOUT_MS,
  type ConnectionPool,
  type PostgresConnection,
} from './pool.ts'
import { readerOn, sqlValues } from '../sql.ts'
import type { CommitWatch } from './commit-watch.ts'

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
export async function transact<T>(
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
