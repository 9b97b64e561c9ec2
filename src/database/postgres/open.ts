import { share } from '../../core/queue.ts'
import type { Database, ObserveDatabase } from '../database.ts'
import { sql } from '../sql.ts'
import { Changes } from './changes.ts'
import { postgresDialect } from './dialect.ts'
import { DatabaseFault } from './faults.ts'
import { migrate } from './migrate.ts'
import { ConnectionPool, type PostgresConnection, type Report } from './pool.ts'
import { readerOn } from './reader.ts'
import {
  localLimits,
  MAX_CONNECTIONS,
  READ_TIMEOUT_MS,
  SCAN_TIMEOUT_MS,
  SILENCE_MS,
  WRITE_TIMEOUT_MS,
} from './settings.ts'
import { transact } from './transactions.ts'

/** Of the connections, so that scans and writes never take the last one from small reads. */
const SCAN_CONNECTIONS = 2
const WRITE_CONNECTIONS = 5
const READ_CONNECTIONS = MAX_CONNECTIONS - SCAN_CONNECTIONS - WRITE_CONNECTIONS
/** What a process among many still needs of them: a small read must not wait for another that hangs. */
const LEAST_READ_CONNECTIONS = 2

const BEGIN_SCAN = `BEGIN READ ONLY; ${localLimits(SCAN_TIMEOUT_MS)}`

/**
 * Connects to PostgreSQL and makes or migrates the schema.
 * @param url `postgres://…`; it holds a password, so it goes nowhere else
 * @param report told of trouble that needs no help: a lost connection, a server that does not answer
 * @param processes on this machine that share the connections
 */
export async function openPostgres(
  url: string,
  observe: ObserveDatabase = () => {},
  report: Report = () => {},
  processes = 1,
): Promise<Database> {
  const reads = new ConnectionPool(
    url,
    Math.max(LEAST_READ_CONNECTIONS, share(READ_CONNECTIONS, processes)),
    READ_TIMEOUT_MS,
    report,
  )
  const writes = new ConnectionPool(
    url,
    share(WRITE_CONNECTIONS, processes),
    WRITE_TIMEOUT_MS + SILENCE_MS,
    report,
  )
  const scans = new ConnectionPool(
    url,
    share(SCAN_CONNECTIONS, processes),
    SCAN_TIMEOUT_MS + SILENCE_MS,
    report,
  )
  const changes = new Changes(url, reads, report)

  async function timed<T>(operation: 'read' | 'scan' | 'write', work: () => Promise<T>): Promise<T> {
    const start = performance.now()
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof DatabaseFault)) throw error
      if (error.kind !== 'fault') report(error)
      throw error.translated()
    } finally {
      observe(operation, (performance.now() - start) / 1000)
    }
  }

  const close = async () => {
    await changes.close()
    await Promise.all([reads.close(), writes.close(), scans.close()])
  }

  // Steps take longer than any other statement, so they have a pool of their own.
  const migrations = new ConnectionPool(url, 1, 0, report)
  try {
    await migrate(migrations)
  } catch (error) {
    await close()
    throw error
  } finally {
    await migrations.close()
  }
  changes.start()

  return {
    dialect: postgresDialect,
    ...readerOn((work) => timed('read', () => again(() => reads.use(work)))),
    scanner: readerOn((work) => timed('scan', () => scans.use((connection) => limited(connection, work)))),
    transaction: (work, options) => timed('write', () => transact(writes, changes, work, options)),
    version: () => changes.version(),
    ping: async () => {
      await reads.use((connection) => connection.rows(sql`SELECT 1`))
    },
    stats: () => ({ waitingWrites: writes.waiting, waitingScans: scans.waiting }),
    close,
  }
}

/** A connection that waited in the pool may be dead without our knowing: a read changes nothing, so it may go twice. */
async function again<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof DatabaseFault && error.kind === 'lost') return read()
    throw error
  }
}

async function limited<T>(
  connection: PostgresConnection,
  work: (connection: PostgresConnection) => Promise<T>,
): Promise<T> {
  await connection.run(BEGIN_SCAN)
  try {
    return await work(connection)
  } finally {
    await connection.run('COMMIT').catch(() => {})
  }
}
