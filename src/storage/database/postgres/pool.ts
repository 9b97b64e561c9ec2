import pg from 'pg'
import { OverloadError } from '../../../lib/errors.ts'
import type { Reader } from '../database.ts'
import { sqlValues, type Query, type SqlValue } from '../sql.ts'
import { DatabaseFault } from './faults.ts'

/** Connections of one process unless it is told otherwise, the listening one not counted. */
const DEFAULT_CONNECTIONS = 12

/** Shares of a process's connections, so that scans and writes never take the last one from small reads. */
export function connectionShares(connections = DEFAULT_CONNECTIONS) {
  const scans = Math.max(1, Math.floor(connections / 6))
  const writes = Math.max(1, Math.floor((connections * 5) / 12))
  return { scans, writes, reads: Math.max(1, connections - scans - writes) }
}

/** From asking for a connection (in line, or to the server) until the caller is told to come back. */
const CONNECT_TIMEOUT_MS = 5_000
/** A small read. */
export const READ_TIMEOUT_MS = 5_000
/** A read of many rows. */
export const SCAN_TIMEOUT_MS = 15_000
/** One statement of a transaction: a batch of 50,000 rows takes some seconds. */
export const WRITE_TIMEOUT_MS = 30_000
/** Waiting for somebody else's row. */
const LOCK_TIMEOUT_MS = 10_000
/**
 * One statement of a transaction that is no batch. It may wait for a row; past that a server that is silent is not
 * waited for, so that a request is told so in time whatever it was doing when the server froze.
 */
export const STATEMENT_SILENCE_MS = LOCK_TIMEOUT_MS + 1_000
/** Bytes of a batch that the server is given another second for. */
const BATCH_BYTES_A_SECOND = 256 * 1024

/** The same for a batch, which takes its time by its size. Milliseconds. */
export function batchSilence(bytes: number): number {
  const most = WRITE_TIMEOUT_MS + SILENCE_MS
  return Math.min(most, STATEMENT_SILENCE_MS + (bytes / BATCH_BYTES_A_SECOND) * 1_000)
}

/** A transaction whose process fell silent. */
const IDLE_TRANSACTION_TIMEOUT_MS = 10_000
/** The server ends a statement first; should it not answer at all, the connection is cut this much later. */
export const SILENCE_MS = 2_000

/** bigint, which by default comes as text: our numbers (moments, sizes, counts) all fit a double. */
const INT8 = 20

/** Settings of every connection. Nothing here is a session's: a pooler may hand each transaction to another one. */
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

/** A transaction's limits, for the transaction alone. Times in milliseconds. */
export function localLimits(statementMs: number): string {
  return (
    `SET LOCAL statement_timeout = ${statementMs}; SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}; ` +
    `SET LOCAL idle_in_transaction_session_timeout = ${IDLE_TRANSACTION_TIMEOUT_MS}`
  )
}

/** Callers in line for a connection, each for `CONNECT_TIMEOUT_MS` at most. */
const MAX_WAITING = 1_000
const IDLE_MS = 30_000
/** A connection is replaced after an hour, so that load finds its way to servers that were added. */
const MAX_LIFETIME_S = 3_600

/** Told of trouble that the service gets over by itself. */
export type Report = (fault: DatabaseFault) => void

/** A connection in hand. Its failures are `DatabaseFault`s. */
export interface PostgresConnection {
  rows(query: Query): Promise<Record<string, unknown>[]>
  arrays(query: Query): Promise<SqlValue[][]>
  /**
   * @param silenceMs the server may be silent for this long; by default for as long as the pool allows
   * @returns how many rows the statement changed or found
   */
  run(text: string, values?: readonly (SqlValue | Buffer)[], silenceMs?: number): Promise<number>
  /** Runs several statements at once, in the simple protocol. @returns the rows of the first */
  several(text: string, silenceMs: number): Promise<Record<string, unknown>[]>
}

/** A bounded number of connections to one server. */
export class ConnectionPool {
  readonly #pool: pg.Pool

  /** @param queryTimeoutMs when the server does not answer at all, the connection is cut after this time */
  constructor(url: string, max: number, queryTimeoutMs: number, report: Report) {
    this.#pool = new pg.Pool({
      ...connectionSettings(url),
      max,
      query_timeout: queryTimeoutMs,
      idleTimeoutMillis: IDLE_MS,
      maxLifetimeSeconds: MAX_LIFETIME_S,
    })
    // Without a listener an idle connection that the server closes would end the process.
    this.#pool.on('error', (error: unknown) => report(new DatabaseFault(error)))
    // So would one that is in somebody's hands just between two statements, which the pool does not listen to. Whoever
    // holds it hears of it from the next statement.
    this.#pool.on('connect', (client) => client.on('error', () => {}))
  }

  get waiting(): number {
    return this.#pool.waitingCount
  }

  /** Hands a connection to `work`; it is not used again where its state is in doubt. */
  async use<T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    if (this.#pool.ending) throw new DatabaseFault(new Error('the database was closed'), 'fault')
    if (this.#pool.waitingCount >= MAX_WAITING) throw new OverloadError()
    const client = await this.#pool.connect().catch((error: unknown) => {
      // Whatever keeps us out, it is not the request's doing.
      throw new DatabaseFault(error, 'lost')
    })
    let healthy = false
    try {
      const result = await work(connectionOf(client))
      healthy = client.getTransactionStatus() === 'I'
      return result
    } catch (error) {
      // A statement that failed by itself leaves the connection as it was, one that timed out may still run.
      healthy =
        !(error instanceof DatabaseFault && error.endsConnection) && client.getTransactionStatus() === 'I'
      throw error
    } finally {
      client.release(!healthy)
    }
  }

  /** May be called again, as a database may be closed again. */
  async close(): Promise<void> {
    if (!this.#pool.ending) await this.#pool.end()
  }
}

function connectionOf(client: pg.ClientBase): PostgresConnection {
  return {
    rows: async (query) => {
      const config = { text: query.text, values: sqlValues(query) }
      return (await client.query<Record<string, unknown>>(config).catch(toFault)).rows
    },
    arrays: async (query) => {
      const config = { text: query.text, values: sqlValues(query), rowMode: 'array' as const }
      return (await client.query<SqlValue[]>(config).catch(toFault)).rows
    },
    run: async (text, values, silenceMs) => {
      const config = {
        text,
        // Several statements at once go without parameters, in the simple protocol.
        ...(values === undefined ? {} : { values: [...values] }),
        ...(silenceMs === undefined ? {} : { query_timeout: silenceMs }),
      }
      return (await client.query(config).catch(toFault)).rowCount ?? 0
    },
    several: async (text, silenceMs) => {
      const config = { text, query_timeout: silenceMs }
      // An array where there are several, which the library's types do not know.
      const results: unknown = await client.query<Record<string, unknown>>(config).catch(toFault)
      const [first]: readonly pg.QueryResult<Record<string, unknown>>[] = Array.isArray(results)
        ? results
        : []
      return first?.rows ?? []
    },
  }
}

function toFault(error: unknown): never {
  throw new DatabaseFault(error)
}

/** Reads on the connection that `use` hands out. */
export function readerOn(
  use: <T>(work: (connection: PostgresConnection) => Promise<T>) => Promise<T>,
): Reader {
  // The engine cannot know a statement's row type: the statement's own declaration is trusted, here only.
  const all = async <Row>(query: Query<Row>) => (await use((connection) => connection.rows(query))) as Row[]
  return {
    all,
    first: async (query) => (await all(query))[0],
    values: (query): Promise<SqlValue[][]> => use((connection) => connection.arrays(query)),
  }
}
