import { existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ChangeFeed } from '../changes/feed.ts'
import { newestChange } from '../changes/queries.ts'
import type { Database, ObserveDatabase, Reader, Transaction } from '../database.ts'
import { StorageFault } from '../faults.ts'
import { newest, migrations as released } from '../migrations/index.ts'
import type { OpenOptions } from '../opening.ts'
import { sql, type Query, type SqlValue } from '../sql.ts'
import { clientOf, turnsFor } from '../turns.ts'
import { batchTexts } from './batch.ts'
import { checkSqlite } from './check.ts'
import { Connection } from './connection.ts'
import { sqliteDialect } from './dialect.ts'
import { onStorage } from './faults.ts'
import type { MigrationOptions } from './messages.ts'
import { Reserve } from './reserve.ts'
import { readSnapshot } from './snapshot.ts'
import { ConnectionThread } from './thread-client.ts'
import { CommitWatch } from './watch.ts'

/**
 * Opens (and makes or migrates) the SQLite file at `path`. Small reads run on the caller's thread, where they
 * cost microseconds; writes and scans have a thread each.
 */
export async function openSqlite(
  path: string,
  observe: ObserveDatabase = () => {},
  { load = false, existing = false, reserve = false, onMigrated, onFault, ...steps }: OpenOptions = {},
): Promise<Database> {
  if (existing && !existsSync(path)) throw missing(path)
  const { migrations = released, schema = newest(migrations) } = steps
  const migration = existing ? undefined : { schema, migrations }
  const { writer, scanner, reader } = await connect(path, load ? 'load' : 'write', migration)
  if (writer.version !== 0 && writer.version < schema) onMigrated?.(writer.version, schema)
  const watch = new CommitWatch(reader)
  // SQLite has one writer.
  const writes = turnsFor('write', 1)
  const scans = turnsFor('scan', 1)
  const scannerFor = (account?: number) =>
    threadReader(scanner, (work) => timed('scan', () => scans.run(clientOf(account), work)))

  const tx = writingTransaction(writer)
  const here = readerHere(reader, path, observe, onFault)
  const room = new Reserve(join(dirname(path), 'reserve'))
  const reserving = reserve ? room.restore() : undefined
  let closing: Promise<void> | undefined

  return {
    dialect: sqliteDialect,
    ...here,
    scanner: scannerFor(),
    scannerOf: scannerFor,

    transaction: (work, author, purpose) =>
      timed('write', () =>
        writes.run(clientOf(author), () =>
          withRoom(purpose, async () => {
            await writer.send({ kind: 'begin' })
            try {
              if (author !== undefined) await tx.run(sql`UPDATE change_log SET author = ${author}`)
              const result = await work(tx)
              if (author !== undefined) await tx.run(sql`UPDATE change_log SET author = NULL`)
              await writer.send({ kind: 'commit' })
              watch.committed()
              return result
            } catch (error) {
              await writer.send({ kind: 'rollback' })
              throw error
            }
          }),
        ),
      ),

    snapshot: (work) => readSnapshot(path, (thread) => work(threadReader(thread, (read) => read()))),

    check: () => checkSqlite(path),
    version: (topic) => watch.version(topic),
    changes: new ChangeFeed(here, watch, sqliteDialect),
    ping: async () => {
      if (!writer.alive || !scanner.alive) throw new Error('a database thread ended')
      onStorage(path, () => reader.first('SELECT count(*) FROM accounts', []))
    },
    stats: () => ({ waitingWrites: writes.waiting, waitingScans: scans.waiting }),

    close: () => (closing ??= close()),
  }

  async function timed<T>(operation: 'scan' | 'write', work: () => Promise<T>): Promise<T> {
    const start = performance.now()
    try {
      return await work()
    } catch (error) {
      if (error instanceof StorageFault) onFault?.(error)
      throw error
    } finally {
      observe(operation, (performance.now() - start) / 1000)
    }
  }

  /** Runs a transaction as far as the room on the disk is for its purpose; one that frees space again, with the room kept for it. */
  async function withRoom<T>(purpose: 'free-space' | undefined, transact: () => Promise<T>): Promise<T> {
    if (purpose === undefined && room.isReleased) {
      await room.restore()
      if (room.isReleased) throw new StorageFault('full', path, 'what room is left is for deletions')
    }
    try {
      return await transact()
    } catch (error) {
      const isFull = error instanceof StorageFault && error.kind === 'full'
      if (purpose === undefined || !isFull || !room.release()) throw error
      return await transact()
    }
  }

  async function close(): Promise<void> {
    await reserving
    watch.close()
    await writes.run(clientOf(undefined), async () => {
      reader.close()
      await scanner.close()
      // Last, because the last connection to close moves the log into the database file.
      await writer.close()
    })
  }
}

/** The writer, which creates and migrates, then those that read. Leaves none behind if one of them fails. */
async function connect(
  path: string,
  mode: 'load' | 'write',
  migration: MigrationOptions | undefined,
): Promise<{ writer: ConnectionThread; scanner: ConnectionThread; reader: Connection }> {
  const threads: ConnectionThread[] = []
  try {
    const writer = await ConnectionThread.open(path, mode, { migration })
    threads.push(writer)
    const scanner = await ConnectionThread.open(path, 'read')
    threads.push(scanner)
    return { writer, scanner, reader: onStorage(path, () => new Connection(path, 'read')) }
  } catch (error) {
    for (const thread of threads.toReversed()) await thread.close()
    throw error
  }
}

function missing(path: string): Error {
  const folder = dirname(path)
  const found = statSync(folder, { throwIfNoEntry: false })
  if (found === undefined) return new Error(`there is no data folder ${folder}`)
  return new Error(
    found.isDirectory() ? `there is no database in ${folder}` : `the data folder ${folder} is a file`,
  )
}

/** Reads on the caller's own thread. */
function readerHere(
  connection: Connection,
  path: string,
  observe: ObserveDatabase,
  onFault: OpenOptions['onFault'],
): Reader {
  function read<T>(operation: () => T): T {
    const start = performance.now()
    try {
      return onStorage(path, operation)
    } catch (error) {
      if (error instanceof StorageFault) onFault?.(error)
      throw error
    } finally {
      observe('read', (performance.now() - start) / 1000)
    }
  }

  return {
    all: async <Row>(query: Query<Row>) =>
      read(() => trusted<Row[]>(connection.all(query.sql, parameters(query)))),
    first: async <Row>(query: Query<Row>) =>
      read(() => trusted<Row | undefined>(connection.first(query.sql, parameters(query)))),
    values: async (query) => read(() => connection.values(query.sql, parameters(query))),
  }
}

/** What a transaction may do, between its begin and its end. */
function writingTransaction(writer: ConnectionThread): Transaction {
  const reads = threadReader(writer, (work) => work())
  return {
    ...reads,
    run: async (query) =>
      Number(await writer.send({ kind: 'run', text: query.sql, values: parameters(query) })),
    runMany: async (batch, constants, rows) =>
      Number(
        await writer.send(
          { kind: 'runMany', batch: batchTexts(batch), values: constants, rows },
          transferable(rows),
        ),
      ),
    newestChange: async () => Number((await reads.first(newestChange()))?.id),
  }
}

/** Reads on a connection in a thread, each run by `run`. */
function threadReader(thread: ConnectionThread, run: <T>(work: () => Promise<T>) => Promise<T>): Reader {
  async function all<Row>(query: Query<Row>): Promise<Row[]> {
    const work = () => thread.send({ kind: 'all', text: query.sql, values: parameters(query) })
    return trusted<Row[]>(await run(work))
  }
  return {
    all,
    first: async (query) => (await all(query))[0],
    values: async (query) => {
      const work = () => thread.send({ kind: 'values', text: query.sql, values: parameters(query) })
      return trusted<SqlValue[][]>(await run(work))
    },
  }
}

function parameters(query: Query): SqlValue[] {
  return query.values.map((value) => {
    if (value === null || typeof value === 'string' || typeof value === 'number') return value
    if (typeof value === 'bigint' || value instanceof Uint8Array) return value
    throw new TypeError(`a ${typeof value} is no SQL value`)
  })
}

// The engine cannot know a statement's row type: the statement's own declaration is trusted, here only.
function trusted<T>(value: unknown): T {
  return value as T
}

function transferable(bytes: Uint8Array): ArrayBuffer[] {
  const whole = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength
  return whole && bytes.buffer instanceof ArrayBuffer ? [bytes.buffer] : []
}
