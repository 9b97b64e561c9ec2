import pg from 'pg'
import { sqlValues, type Query, type SqlValue } from '../sql.ts'
import { closedFault, DatabaseFault } from './faults.ts'

/** Default number of connections of one process, without the listening one. */
const DEFAULT_CONNECTIONS = 12

/** Divides the connections, so that scans and writes never take the last one from small reads. */
export function connectionShares(connections = DEFAULT_CONNECTIONS) {
  const scans = Math.max(1, Math.floor(connections / 6))
  const writes = Math.max(1, Math.floor((connections * 5) / 12))
  return { scans, writes, reads: Math.max(1, connections - scans - writes) }
}

/** How long a caller waits for a connection, from the pool or the server. */
const CONNECT_TIMEOUT_MS = 5_000
/** A small read. */
export const READ_TIMEOUT_MS = 5_000
/** A read of many rows. */
export const SCAN_TIMEOUT_MS = 15_000
/** One statement of a transaction: a batch of 50,000 rows takes some seconds. */
export const WRITE_TIMEOUT_MS = 30_000
/** Waiting for a row that another transaction has locked. */
const LOCK_TIMEOUT_MS = 10_000
/**
 * How long a statement of a transaction that is not a batch may go unanswered, waiting for a row included, so that a
 * request fails in time if the server freezes.
 */
export const STATEMENT_SILENCE_MS = LOCK_TIMEOUT_MS + 1_000
/** Bytes of a batch for which the server gets another second. */
const BATCH_BYTES_A_SECOND = 256 * 1024

/** Returns how long a batch may go unanswered, in milliseconds, by its size. */
export function batchSilence(bytes: number): number {
  const most = WRITE_TIMEOUT_MS + SILENCE_MS
  return Math.min(most, STATEMENT_SILENCE_MS + (bytes / BATCH_BYTES_A_SECOND) * 1_000)
}

/** A transaction whose process went silent. */
const IDLE_TRANSACTION_TIMEOUT_MS = 10_000
/** The server ends a statement first. If it does not answer at all, the connection is closed this much later. */
export const SILENCE_MS = 2_000

/** The type bigint, which the driver returns as text by default: our numbers (times, sizes, counts) fit a double. */
const INT8 = 20

/** Settings of every connection, none of its session: a pooler may hand each transaction to another session. */
export function connectionSettings(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'catalejo',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === INT8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format),
    },
  }
}

/**
 * Makes the server end a statement within this time after its client is gone; else it runs it to its end and keeps its locks.
 * The only setting of a session: behind a pooler another client may get the session, and it does that one no harm. Version 13
 * does not know it.
 */
const CHECK_CLIENT = `SELECT set_config(name, '2s', false) FROM (VALUES ('client_connection_check_interval')) AS setting (name)
  WHERE current_setting(name, true) IS NOT NULL`

/** Returns the statements that set a transaction's timeouts, for that transaction only. Times in milliseconds. */
export function localLimits(statementMs: number, idleMs = IDLE_TRANSACTION_TIMEOUT_MS): string {
  return (
    `SET LOCAL statement_timeout = ${statementMs}; SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}; ` +
    `SET LOCAL idle_in_transaction_session_timeout = ${idleMs}`
  )
}

const IDLE_MS = 30_000
/** Connections are replaced after an hour, so that load reaches servers that were added. */
const MAX_LIFETIME_S = 3_600

/** Called with failures that the service recovers from. */
export type Report = (fault: DatabaseFault) => void

/** A connection taken from a pool. It rejects with `DatabaseFault`s. */
export type PostgresConnection = ReturnType<typeof getConnection>

/** A bounded number of connections to one server. */
export class ConnectionPool {
  readonly #pool: pg.Pool

  constructor(url: string, max: number, report: Report) {
    this.#pool = new pg.Pool({
      ...connectionSettings(url),
      max,
      idleTimeoutMillis: IDLE_MS,
      maxLifetimeSeconds: MAX_LIFETIME_S,
      query_timeout: CONNECT_TIMEOUT_MS,
      // Called for new connections. A server whose system cannot tell that a client is gone rejects the setting.
      verify: (client, done) =>
        client.query(CHECK_CLIENT, (error) =>
          done(new DatabaseFault(error).endsConnection ? error : undefined),
        ),
    })
    // Without a listener, an idle connection that the server closes would end the process.
    this.#pool.on('error', (error: unknown) => report(new DatabaseFault(error)))
    // The pool does not listen to connections in use. Their holder gets the error from the next statement.
    this.#pool.on('connect', (client) => client.on('error', () => {}))
  }

  /**
   * Runs `work` with a connection, and discards the connection afterwards if its state is uncertain.
   * @param silenceMs how long the server may leave a statement unanswered, unless the statement says otherwise
   */
  async use<T>(silenceMs: number, work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    if (this.#pool.ending) throw closedFault()
    const client = await this.#pool.connect().catch((error: unknown) => {
      // The cause is never the request itself.
      throw new DatabaseFault(error, 'lost')
    })
    let isIntact = true
    try {
      return await work(getConnection(client, silenceMs))
    } catch (error) {
      // After a failed statement the connection is intact; a statement that timed out may still be running.
      isIntact = !(error instanceof DatabaseFault && error.endsConnection)
      throw error
    } finally {
      client.release(!isIntact || client.getTransactionStatus() !== 'I')
    }
  }

  /** Closing again does nothing. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#pool.ending) await this.#pool.end()
  }
}

function getConnection(client: pg.ClientBase, silenceMs: number) {
  const send = async (
    config: pg.QueryConfig & { readonly query_timeout?: number; readonly rowMode?: string },
  ) => {
    try {
      return await client.query<Record<string, unknown>>({ query_timeout: silenceMs, ...config })
    } catch (error) {
      throw new DatabaseFault(error)
    }
  }
  return {
    all: async (query: Query) => (await send({ text: query.text, values: sqlValues(query) })).rows,
    /** Returns rows as arrays, which the library's types do not express. */
    values: async (query: Query): Promise<unknown> =>
      (await send({ text: query.text, values: sqlValues(query), rowMode: 'array' })).rows,
    /**
     * @param values undefined for several statements, in the simple protocol, which has no parameters
     * @returns the number of rows that the statement changed or returned
     */
    run: async (
      text: string,
      values?: readonly (SqlValue | Buffer)[],
      timeoutMs = silenceMs,
    ): Promise<number> => {
      const parameters = values === undefined ? {} : { values: [...values] }
      return (await send({ text, ...parameters, query_timeout: timeoutMs })).rowCount ?? 0
    },
    /** Runs several statements in one message of the simple protocol. Returns the rows of the first. */
    several: async (text: string, timeoutMs: number): Promise<Record<string, unknown>[]> => {
      // An array if there are several, which the library's types do not express.
      const results: unknown = await send({ text, query_timeout: timeoutMs })
      const [first]: readonly pg.QueryResult<Record<string, unknown>>[] = Array.isArray(results)
        ? results
        : []
      return first?.rows ?? []
    },
  }
}

/** Runs reads in a transaction that `begin` starts, for its timeouts and its snapshot. */
export async function inTransaction<T>(
  connection: PostgresConnection,
  begin: string,
  work: () => Promise<T>,
): Promise<T> {
  await connection.run(begin, undefined, READ_TIMEOUT_MS)
  let isIntact = true
  try {
    return await work()
  } catch (error) {
    // COMMIT would wait behind a statement that the server does not answer, for as long again.
    isIntact = !(error instanceof DatabaseFault && error.endsConnection)
    throw error
  } finally {
    if (isIntact) await connection.run('COMMIT').catch(() => {})
  }
}
