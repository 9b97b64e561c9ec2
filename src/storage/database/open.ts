import { join, resolve } from 'node:path'
import { perProcessShare } from '../../lib/concurrency.ts'
import type { Database, ObserveDatabase, OpenOptions } from './database.ts'
import { openSqlite } from './sqlite/open.ts'

/** Connections per process: at least one for each kind of work. */
const MIN_CONNECTIONS = 3

/** Where a database is, and how a process connects to it. */
export interface DatabaseLocation {
  /** The folder of an instance. */
  readonly data: string
  /** Empty for SQLite in `data`. */
  readonly databaseUrl: string
  /** The server itself, if the address is that of a pooler; may be empty. */
  readonly databaseListenUrl?: string
  /** Connections of all processes to PostgreSQL. */
  readonly databaseConnections?: number
  /** Processes that share them. */
  readonly workers?: number
}

export interface DatabaseOptions extends OpenOptions {
  readonly observe?: ObserveDatabase
  /** Called with failures that need no action, such as a lost connection to PostgreSQL. */
  readonly report?: (fault: Error) => void
  /** How long to wait for a PostgreSQL server that is not ready. */
  readonly startTimeoutMs?: number
}

/** Opens PostgreSQL if there is an address, otherwise SQLite in the data folder, which must be there. */
export async function openDatabase(
  { data, databaseConnections, databaseListenUrl, databaseUrl, workers = 1 }: DatabaseLocation,
  { observe, report, ...options }: DatabaseOptions = {},
): Promise<Database> {
  if (databaseUrl === '') return openSqlite(join(resolve(data), 'catalejo.db'), observe, options)
  // Loaded only where it is used, because it is a large part of the start of a command.
  const { openPostgres } = await import('./postgres/open.ts')
  return openPostgres(databaseUrl, observe, report, {
    listenUrl: databaseListenUrl || undefined,
    connections:
      databaseConnections && Math.max(MIN_CONNECTIONS, perProcessShare(databaseConnections, workers)),
    ...options,
  })
}
