import { join, resolve } from 'node:path'
import { perProcessShare } from '../lib/concurrency.ts'
import type { Database, ObserveDatabase, OpenOptions } from '../storage/database/database.ts'
import { openSqlite } from '../storage/database/sqlite/open.ts'
import type { Config } from './config/config.ts'

/** Connections per process: at least one for each kind of work. */
const MIN_CONNECTIONS = 3

export interface DatabaseOptions extends OpenOptions {
  readonly observe?: ObserveDatabase
  /** Called with failures that need no action, such as a lost connection to PostgreSQL. */
  readonly report?: (fault: Error) => void
  /** How long to wait for a PostgreSQL server that is not ready. */
  readonly startTimeoutMs?: number
}

/** Opens PostgreSQL if the settings name one, otherwise SQLite in the data folder, which must be there. */
export async function openDatabase(
  config: Pick<Config, 'data' | 'databaseUrl'> & Partial<Config>,
  { observe, report, ...options }: DatabaseOptions = {},
): Promise<Database> {
  if (config.databaseUrl !== '') {
    // Loaded only where it is used, because it is a large part of the start of a command.
    const { openPostgres } = await import('../storage/database/postgres/open.ts')
    return openPostgres(config.databaseUrl, observe, report, {
      listenUrl: config.databaseListenUrl || undefined,
      connections:
        config.databaseConnections &&
        Math.max(MIN_CONNECTIONS, perProcessShare(config.databaseConnections, config.workers ?? 1)),
      ...options,
    })
  }
  return openSqlite(join(resolve(config.data), 'catalejo.db'), observe, options)
}
