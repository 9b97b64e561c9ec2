import { ChangeFeed } from '../changes/feed.ts'
import type { Database, ObserveDatabase } from '../database.ts'
import { StorageFault } from '../faults.ts'
import { migrations, newest } from '../migrations/index.ts'
import type { OpenOptions } from '../opening.ts'
import { sql } from '../sql.ts'
import { checkPostgres } from './check.ts'
import { postgresDialect } from './dialect.ts'
import { DatabaseFault, storageKindOf } from './faults.ts'
import { ConnectionPool, type PostgresConnection, type Report } from './pool.ts'
import { clientOf, turnsFor } from '../turns.ts'
import { readerOn } from './reader.ts'
import {
  localLimits,
  READ_TIMEOUT_MS,
  SCAN_TIMEOUT_MS,
  shares,
  SILENCE_MS,
  WRITE_TIMEOUT_MS,
} from './settings.ts'
import { readSnapshot } from './snapshot.ts'
import { prepareServer, START_PATIENCE_MS } from './start.ts'
import { transact } from './transactions.ts'
import { CommitWatch } from './watch.ts'

const BEGIN_SCAN = `BEGIN READ ONLY; ${localLimits(SCAN_TIMEOUT_MS)}`

export interface PostgresOptions extends Omit<OpenOptions, 'load'> {
  /** Where LISTEN works: the server itself, where `url` names a pooler in transaction mode. */
  readonly listenUrl?: string | undefined
  /** Connections in all but the listening one; at least 3. */
  readonly connections?: number | undefined
  /** How long a server that cannot be used yet is waited for. */
  readonly patienceMs?: number
}

/**
 * Connects to PostgreSQL and makes or migrates the schema.
 * @param url `postgres://…`; it holds a password, so it goes nowhere else
 * @param report told of trouble that needs no help: a lost connection, a server that does not answer
 * @throws an error whose message is one line, fit to be shown, where the server cannot be used
 */
export async function openPostgres(
  url: string,
  observe: ObserveDatabase = () => {},
  report: Report = () => {},
  options: PostgresOptions = {},
): Promise<Database> {
  const { listenUrl = url, connections, onFault, patienceMs = START_PATIENCE_MS } = options
  const { schema = newest(options.migrations ?? migrations) } = options
  const version = await prepareServer(url, report, patienceMs, options)
  if (version !== 0 && version < schema) options.onMigrated?.(version, schema)
  const share = shares(connections)
  const reads = new ConnectionPool(url, share.reads, READ_TIMEOUT_MS, report)
  const writes = new ConnectionPool(url, share.writes, WRITE_TIMEOUT_MS + SILENCE_MS, report)
  const scans = new ConnectionPool(url, share.scans, SCAN_TIMEOUT_MS + SILENCE_MS, report)
  const writeTurns = turnsFor('write', share.writes)
  const scanTurns = turnsFor('scan', share.scans)
  const watch = new CommitWatch(listenUrl, report)

  async function timed<T>(operation: 'read' | 'scan' | 'write', work: () => Promise<T>): Promise<T> {
    const start = performance.now()
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof DatabaseFault)) throw error
      if (error.kind !== 'fault') report(error)
      const storage = storageKindOf(error)
      if (storage !== undefined) onFault?.(new StorageFault(storage, 'PostgreSQL', error.message))
      throw error.translated()
    } finally {
      observe(operation, (performance.now() - start) / 1000)
    }
  }

  const close = async () => {
    await watch.close()
    await Promise.all([reads.close(), writes.close(), scans.close()])
  }

  watch.start()

  const scannerFor = (account?: number) =>
    readerOn((work) =>
      timed('scan', () =>
        scanTurns.run(clientOf(account), () => scans.use((connection) => limited(connection, work))),
      ),
    )
  const reader = readerOn((work) => timed('read', () => again(() => reads.use(work))))
  return {
    dialect: postgresDialect,
    ...reader,
    scanner: scannerFor(),
    scannerOf: scannerFor,
    transaction: (work, author) =>
      timed('write', () => writeTurns.run(clientOf(author), () => transact(writes, watch, work, author))),
    snapshot: (work) =>
      timed('scan', () =>
        readSnapshot(url, report, (connection) => work(readerOn((use) => use(connection)))),
      ),
    version: (topic) => watch.version(topic),
    changes: new ChangeFeed(reader, watch, postgresDialect),
    check: () => timed('scan', () => scans.use(checkPostgres)),
    ping: async () => {
      await reads.use((connection) => connection.rows(sql`SELECT 1`))
    },
    stats: () => ({ waitingWrites: writeTurns.waiting, waitingScans: scanTurns.waiting }),
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
  await connection.run(BEGIN_SCAN, undefined, READ_TIMEOUT_MS)
  try {
    return await work(connection)
  } finally {
    await connection.run('COMMIT').catch(() => {})
  }
}
