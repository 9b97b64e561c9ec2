import { existsSync, statSync, renameSync, rmSync, truncateSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { accountClient } from '../../../lib/client.ts'
import { OverloadError, asError } from '../../../lib/errors.ts'
import { fillFile } from '../../../lib/private-files.ts'
import { ownsBuffer } from '../../../lib/bytes.ts'
import { sqliteBatch, sqliteInsert, type SqliteBatch } from '../batch.ts'
import { ChangeLog, getNewest } from '../changes/change-log.ts'
import {
  announceMigration,
  type Database,
  type ObserveDatabase,
  type OpenOptions,
  type Reader,
  type Transaction,
  type TransactionOptions,
  scanGate,
  WriteGate,
} from '../database.ts'
import { sqliteDialect } from '../dialect.ts'
import { StorageFault, UnansweredFault, onStorage } from '../faults.ts'
import { newest, migrations as released } from '../migrations/index.ts'
import { raw, readerOn, sql, sqlValues, type SqlValue } from '../sql.ts'
import { watchCommits } from './commit-watch.ts'
import { ConnectionThread, type MigrationOptions, separateThreads } from './connection-thread.ts'
import { Connection, schemaVersionAt } from './connection.ts'

/** One statement of a transaction that fills a database may build an index of a large table. */
const FILL_TIMEOUT_MS = 3_600_000

/**
 * Opens the SQLite file at `path`, and creates or migrates it. Small reads run on the caller's thread, where they take
 * microseconds; writes and scans have a thread each.
 */
export async function openSqlite(
  path: string,
  observe: ObserveDatabase = () => {},
  options: OpenOptions = {},
): Promise<Database> {
  const { existing = false, reserve = false, onMigrated, onFault } = options
  if (!existsSync(existing ? path : dirname(path))) throw missing(path)
  const { migrations = released, schema = newest(migrations) } = options
  if (!existing && options.beforeMigration !== undefined)
    await announceMigration(options, schemaVersionAt(path))
  const migration = existing ? undefined : { schema, migrations }
  const { writer, scanner, reader } = await connect(path, migration)
  if (writer.version !== 0 && writer.version < schema) onMigrated?.(writer.version, schema)
  const watch = watchCommits(reader)
  // SQLite has one writer.
  const writes = new WriteGate(1)
  const scans = scanGate(1)
  const scannerFor = (account?: number, signal?: AbortSignal) =>
    readerOn((form, query) =>
      timed('scan', () => scans.run(accountClient(account), () => scanner.read(form, query), signal)),
    )
  const here = readerOn((form, query) =>
    timed('read', async () => onStorage(path, () => reader[form](query.sql, sqlValues(query)))),
  )
  /** Damage that an operation met. Until a check finds the file whole, nothing is written: pages in memory may hide the damage. */
  let damage: StorageFault | undefined
  const diskReserve = reserveSpace(join(dirname(path), 'reserve'))
  const reserving = reserve ? diskReserve.restore() : undefined
  const separate = separateThreads(path)
  let closing: Promise<void> | undefined
  const closeOnce = () => (closing ??= close())

  return {
    dialect: sqliteDialect,
    ...here,
    // They run on this thread without waiting.
    readerOf: () => here,
    scanner: scannerFor(),
    scannerOf: scannerFor,

    transaction: (work, author, { purpose, rows = 0 } = {}) => {
      const timeoutMs = purpose === 'fill' ? FILL_TIMEOUT_MS : undefined
      const transact = async () => {
        if (damage !== undefined) throw damage
        let isCommitting = false
        try {
          await writer.send({ kind: 'begin', author })
          const result = await work(transactionOn(writer, timeoutMs))
          isCommitting = true
          await writer.send({ kind: 'commit' }, [], timeoutMs)
          watch.committed()
          return result
        } catch (error) {
          const rollback = writer.send({ kind: 'rollback' })
          if (!(error instanceof UnansweredFault)) {
            await rollback
            throw error
          }
          // It comes before whatever is sent next.
          rollback.catch(() => {})
          if (!isCommitting) throw error
          onFault?.(error)
          throw new OverloadError()
        }
      }
      return timed('write', () => writes.run(author, rows, () => withRoom(purpose, transact)))
    },

    // Until it ends, the log of later writes only grows.
    snapshot: (work) =>
      separate.run(async (own) => {
        await own.all(sql`BEGIN`)
        // The snapshot is taken by the first read.
        await own.all(sql`SELECT count(*) FROM sqlite_schema`)
        return work(own)
      }),
    check: async () => {
      const faults = await separate.run(checkSqlite, CHECK_TIMEOUT_MS)
      if (faults.length === 0) damage = undefined
      return faults
    },
    version: (topic) => watch.version(topic),
    changes: new ChangeLog(here, watch, sqliteDialect),
    ping: async () => {
      if (!writer.alive || !scanner.alive) throw new Error('a database thread ended')
      onStorage(path, () => reader.first('SELECT count(*) FROM accounts', []))
    },
    stats: () => ({ waitingWrites: writes.waiting, waitingScans: scans.waiting }),

    close: closeOnce,
    [Symbol.asyncDispose]: closeOnce,
  }

  async function timed<T>(operation: 'read' | 'scan' | 'write', work: () => Promise<T>): Promise<T> {
    const start = performance.now()
    try {
      return await work()
    } catch (error) {
      if (error instanceof StorageFault) {
        if (error.kind === 'damaged') damage = error
        onFault?.(error)
      }
      throw error
    } finally {
      observe(operation, (performance.now() - start) / 1000)
    }
  }

  /** Runs a transaction if the disk has room for its purpose. One that frees space may use the reserve. */
  async function withRoom<T>(purpose: TransactionOptions['purpose'], transact: () => Promise<T>): Promise<T> {
    if (purpose !== 'free-space' && diskReserve.isReleased) {
      await diskReserve.restore()
      if (diskReserve.isReleased) throw new StorageFault('full', path, 'what room is left is for deletions')
    }
    try {
      return await transact()
    } catch (error) {
      const isFull = error instanceof StorageFault && error.kind === 'full'
      if (purpose !== 'free-space' || !isFull || !diskReserve.release()) throw error
      return await transact()
    }
  }

  async function close(): Promise<void> {
    await reserving
    watch.close()
    await separate.close()
    await writes.run(undefined, 0, async () => {
      reader.close()
      await scanner[Symbol.asyncDispose]()
      // Last, because the last connection to close moves the log into the file.
      await writer[Symbol.asyncDispose]()
    })
  }
}

/** Returns the operations of a transaction, between its begin and its end. */
function transactionOn(writer: ConnectionThread, timeoutMs?: number): Transaction {
  const reads = readerOn((form, query) => writer.read(form, query))
  const storeMany = async (batch: SqliteBatch, constants: readonly SqlValue[], rows: Uint8Array) => {
    const work = { kind: 'runMany', batch, values: constants, rows } as const
    return Number(await writer.send(work, ownsBuffer(rows) ? [rows.buffer] : [], timeoutMs))
  }
  return {
    ...reads,
    run: async (query) =>
      Number(await writer.send({ kind: 'run', text: query.sql, values: sqlValues(query) }, [], timeoutMs)),
    runMany: (batch, constants, rows) => storeMany(sqliteBatch(batch), constants, rows),
    insertMany: (table, columns, rows) => storeMany(sqliteInsert(table, columns), [], rows),
    newestChange: () => getNewest(reads),
  }
}

/** Opens the writer, which creates and migrates, then the readers. Closes all of them if one fails. */
async function connect(
  path: string,
  migration: MigrationOptions | undefined,
): Promise<{ writer: ConnectionThread; scanner: ConnectionThread; reader: Connection }> {
  await using opening = new AsyncDisposableStack()
  const writer = opening.use(await ConnectionThread.open({ path, mode: 'write', migration }))
  const scanner = opening.use(await ConnectionThread.open({ path, mode: 'scan' }))
  const reader = onStorage(path, () => new Connection(path, 'read'))
  opening.move()
  return { writer, scanner, reader }
}

function missing(path: string): Error {
  const folder = dirname(path)
  const found = statSync(folder, { throwIfNoEntry: false })
  if (found === undefined)
    return new Error(`there is no data folder ${folder}: name that of the service with --data`)
  return new Error(
    found.isDirectory() ? `there is no database in ${folder}` : `the data folder ${folder} is a file`,
  )
}

/** Reading a database of some hundred gigabytes. */
const CHECK_TIMEOUT_MS = 24 * 60 * 60 * 1000
/** The most faults to report: a damaged page causes many. */
const MAX_FAULTS = 100

/** Checks the whole file, while other connections continue. */
async function checkSqlite(reader: Reader): Promise<string[]> {
  try {
    const integrity = await reader.values(sql`PRAGMA integrity_check(${raw(String(MAX_FAULTS))})`)
    const foreign = await reader.values(sql`PRAGMA foreign_key_check`)
    return [
      ...integrity.map((row) => row.join(' ')).filter((fault) => fault !== 'ok'),
      ...foreign
        .slice(0, MAX_FAULTS)
        .map(([table, , parent]) => `a row of ${table} refers to a row of ${parent} that is not there`),
    ]
  } catch (error) {
    // A badly damaged file cannot even be checked.
    return [asError(error).message]
  }
}

/** Twice the size at which SQLite moves the log into the file (1,000 pages), which may grow by as much meanwhile. */
const MAX_BYTES = 8 * 1024 * 1024
/** The largest share of a small disk. */
const PART_OF_DISK = 1 / 16
const RETRY_MS = 1_000

/**
 * Disk space for deletions. Every commit of SQLite first needs space, deletions included, so on a full disk nothing
 * could be deleted. A file reserves some: it is truncated when a deletion finds the disk full, and from then on only
 * deletions may write until it can be filled again. Processes that share the database share the file.
 */
function reserveSpace(path: string) {
  let triedAt = -Infinity
  let restoring: Promise<void> | undefined
  const getSize = () => statSync(path, { throwIfNoEntry: false })?.size

  async function fill(): Promise<void> {
    const now = performance.now()
    if (now - triedAt < RETRY_MS) return
    triedAt = now
    // One file per process, renamed when complete: an empty file would mean that the space was released.
    const filling = `${path}.${process.pid}`
    try {
      if ((getSize() ?? 0) > 0) return
      const { bavail, blocks, bsize } = await statfs(dirname(path))
      const bytes = Math.min(MAX_BYTES, Math.floor(blocks * bsize * PART_OF_DISK))
      if (bavail * bsize < 2 * bytes) return
      await fillFile(filling, bytes)
      renameSync(filling, path)
    } catch {
      // Without a reserve the service works as on a disk that never had room for it.
      rmSync(filling, { force: true })
    }
  }

  return {
    /** Whether the space was released and not restored. A disk that never had room for it counts as restored. */
    get isReleased(): boolean {
      return getSize() === 0
    },

    /** Releases the space. Returns false if there is none. */
    release(): boolean {
      if ((getSize() ?? 0) === 0) return false
      truncateSync(path, 0)
      return true
    },

    /** Reserves the space again if the disk has twice as much. Concurrent calls share one attempt. */
    restore: (): Promise<void> => (restoring ??= fill().finally(() => (restoring = undefined))),
  }
}
