import pg from 'pg'
import { OverloadError } from '../../../lib/errors.ts'
import type { Query, SqlValue } from '../sql.ts'
import { DatabaseFault } from './faults.ts'
import { connectionSettings } from './settings.ts'

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
      const config = { text: query.text, values: parameters(query.values) }
      return (await client.query<Record<string, unknown>>(config).catch(toFault)).rows
    },
    arrays: async (query) => {
      const config = { text: query.text, values: parameters(query.values), rowMode: 'array' as const }
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

export function parameters(values: readonly unknown[]): (SqlValue | Buffer)[] {
  return values.map((value) => {
    if (value === null || typeof value === 'string' || typeof value === 'number') return value
    if (typeof value === 'bigint' || value instanceof Uint8Array) return value
    throw new TypeError(`a ${typeof value} is no SQL value`)
  })
}
