import { ConnectionPool, type PostgresConnection, type Report } from './pool.ts'
import { localLimits, SILENCE_MS } from './settings.ts'

/** One page of rows, or a count of them all. */
const STATEMENT_TIMEOUT_MS = 60_000
/** What is done with a page before the next one is asked for. */
const IDLE_TIMEOUT_MS = 120_000

const BEGIN =
  `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${localLimits(STATEMENT_TIMEOUT_MS)}; ` +
  `SET LOCAL idle_in_transaction_session_timeout = ${IDLE_TIMEOUT_MS}`

/** Runs `work` with a connection of its own that sees the database as it is now. */
export async function readSnapshot<T>(
  url: string,
  report: Report,
  work: (connection: PostgresConnection) => Promise<T>,
): Promise<T> {
  const pool = new ConnectionPool(url, 1, STATEMENT_TIMEOUT_MS + SILENCE_MS, report)
  try {
    return await pool.use(async (connection) => {
      // The view is taken by the first statement after BEGIN.
      await connection.run(`${BEGIN}; SELECT 1`)
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
