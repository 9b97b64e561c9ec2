import { setTimeout as pause } from 'node:timers/promises'
import type { Transaction, TransactionOptions } from '../database.ts'
import { batchStatement, lockStatement } from './batch.ts'
import type { Changes } from './changes.ts'
import { DatabaseFault } from './faults.ts'
import { parameters, type ConnectionPool, type PostgresConnection } from './pool.ts'
import { readerOn } from './reader.ts'
import { localLimits, WRITE_TIMEOUT_MS } from './settings.ts'

/** Runs of one transaction in all, while others come in between or the connection is lost. */
const MAX_RUNS = 8
/** The pause before a run doubles up to the longest; its length is drawn, so that rivals part. */
const FIRST_PAUSE_MS = 5
const MAX_PAUSE_MS = 500
/** No further run begins after this time. */
const MAX_TOTAL_MS = 15_000

/** Sorting a batch of 50,000 takes some 10 MB; the server's default of 4 would go through the disk. */
const SORT_MEMORY = '32MB'

const BEGIN =
  `BEGIN ISOLATION LEVEL READ COMMITTED; ${localLimits(WRITE_TIMEOUT_MS)}; ` +
  `SET LOCAL work_mem = '${SORT_MEMORY}'`

/** Runs `work` in a transaction, again where that may help. */
export async function transact<T>(
  pool: ConnectionPool,
  changes: Changes,
  work: (tx: Transaction) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  const deadline = performance.now() + MAX_TOTAL_MS
  for (let run = 1; ; run++) {
    const attempt: Attempt = { committing: false }
    try {
      return await pool.use((connection) => once(connection, changes, work, attempt, options))
    } catch (error) {
      if (!(error instanceof DatabaseFault)) throw error
      // Once COMMIT was sent, nobody knows whether it took place: only the caller can tell whether to try again.
      const mayRepeat = error.kind === 'conflict' || (error.kind === 'lost' && !attempt.committing)
      if (!mayRepeat || run === MAX_RUNS || performance.now() > deadline) throw error
    }
    await pause(Math.random() * Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** run))
  }
}

interface Attempt {
  committing: boolean
}

async function once<T>(
  connection: PostgresConnection,
  changes: Changes,
  work: (tx: Transaction) => Promise<T>,
  attempt: Attempt,
  { quiet = false }: TransactionOptions,
): Promise<T> {
  await connection.run(BEGIN)
  let changed = 0
  const tx: Transaction = {
    ...readerOn((use) => use(connection)),
    async run(query) {
      const count = await connection.run(query.text, parameters(query.values))
      changed += count
      return count
    },
    async runMany(batch, constants, rows) {
      // Sent as it is, in the binary form of json, which is its text.
      const json = Buffer.from(rows.buffer, rows.byteOffset, rows.byteLength)
      if (batch.insert === undefined) await connection.run(lockStatement(batch), [json])
      const count = await connection.run(batchStatement(batch), [json, ...constants])
      changed += count
      return count
    },
  }
  try {
    const result = await work(tx)
    attempt.committing = true
    if (changed === 0 || quiet) {
      await connection.run('COMMIT')
      return result
    }
    try {
      await connection.run(`${changes.announcement}; COMMIT`)
    } finally {
      // Also when it failed: it may have taken place.
      changes.bump()
    }
    return result
  } catch (error) {
    // Where this fails too, the connection is not used again, and the server rolls back when it goes.
    if (!(error instanceof DatabaseFault && error.endsConnection))
      await connection.run('ROLLBACK').catch(() => {})
    throw error
  }
}
